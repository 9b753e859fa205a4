"""What passes share."""

from retrograd.fx.passes.utils import matcher_utils as matcher_utils
