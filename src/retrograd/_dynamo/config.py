"""Settings of torch._dynamo. There is no compiler: they are kept, and change nothing."""

import sys

from retrograd._settings_module import SettingsModule

accumulated_cache_size_limit = 256
accumulated_recompile_limit = 256
allow_rnn = False
assume_static_by_default = True
automatic_dynamic_shapes = True
cache_size_limit = 8
capture_dynamic_output_shape_ops = False
capture_scalar_outputs = False
compiled_autograd = False
disable = False
dynamic_shapes = True
error_on_recompile = False
force_parameter_static_shapes = True
guard_nn_modules = True
inline_inbuilt_nn_modules = True
optimize_ddp = True
recompile_limit = 8
report_guard_failures = True
specialize_float = False
specialize_int = False
suppress_errors = False
verbose = False

sys.modules[__name__].__class__ = SettingsModule
