from retrograd.nn.parameter import Buffer, Parameter
