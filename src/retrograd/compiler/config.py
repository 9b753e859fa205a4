"""Settings of torch.compiler. There is no compiler: they are kept, and change nothing."""

import sys

from retrograd._settings_module import SettingsModule

cache_key_tag = ""
dynamic_shapes = True
job_id = None
force_disable_caches = False

sys.modules[__name__].__class__ = SettingsModule
