from retrograd.func._vmap import vmap
def grad(*a, **k): raise NotImplementedError
