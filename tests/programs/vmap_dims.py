"""vmap: in_dims, out_dims, containers, chunk_size."""

from tests.programs import differs


def in_dims_is_a_list(vmap, x3):
    vmap(lambda x: x, in_dims=[0])(x3)


def in_dims_is_a_string(vmap, x3):
    vmap(lambda x: x, in_dims="0")(x3)


def no_inputs(torch, vmap):
    vmap(lambda: torch.ones(3))()


def structure_of_in_dims(vmap, x3):
    vmap(lambda x, y: x + y, in_dims=(0,))(x3, x3)


def structure_of_in_dims_nested(vmap, x3):
    vmap(lambda d: d["a"], in_dims=({"b": 0},))({"a": x3})


def in_dims_for_a_container(vmap, x3, show):
    show(vmap(lambda d: d["a"] + d["b"], in_dims=({"a": 0, "b": None},))({"a": x3, "b": x3}))


def in_dim_out_of_range(vmap, x3):
    vmap(lambda x: x, in_dims=2)(x3)


def in_dim_negative(vmap, x23, show):
    show(vmap(lambda x: x.sum(), in_dims=-1)(x23))


def in_dim_below_range(vmap, x23):
    vmap(lambda x: x, in_dims=-3)(x23)


def in_dim_for_a_number(vmap, x3):
    vmap(lambda x, y: x * y)(x3, 2)


def in_dim_that_is_a_float(vmap, x3):
    vmap(lambda x: x, in_dims=(1.0,))(x3)


def in_dims_is_none(vmap, x3):
    vmap(lambda x: x, in_dims=None)(x3)


def in_dims_is_none_for_each(vmap, x3):
    vmap(lambda x: x, in_dims=(None,))(x3)


def different_sizes(torch, vmap, x3):
    vmap(lambda x, y: x + y)(x3, torch.ones(2))


def input_without_dimensions(torch, vmap):
    vmap(lambda x: x)(torch.tensor(1.0))


def out_dims_negative(vmap, x23, show):
    show(vmap(lambda x: x, out_dims=-1)(x23))


def out_dims_out_of_range(vmap, x23):
    vmap(lambda x: x, out_dims=2)(x23)


def out_dims_tuple_too_short(vmap, x23):
    vmap(lambda x: (x, x), out_dims=(0,))(x23)


def out_dims_tuple_of_one_for_one_output(vmap, x23, show):
    show(vmap(lambda x: x, out_dims=(1,))(x23))


def out_dims_of_a_tuple_of_one(vmap, x23, show):
    show(vmap(lambda x: (x,), out_dims=(1,))(x23))


def out_dims_int_for_many_outputs(vmap, x23, show):
    show(vmap(lambda x: (x, x * 2), out_dims=1)(x23))


def out_dims_none_for_a_batched_output(vmap, x23):
    vmap(lambda x: x, out_dims=None)(x23)


def out_dims_none_for_an_unbatched_output(torch, vmap, x23, show):
    show(vmap(lambda x: torch.ones(2), out_dims=None)(x23))


def out_dims_none_for_a_number(vmap, x23, show):
    show(vmap(lambda x: 3, out_dims=None)(x23))


def out_dims_is_a_string(vmap, x23):
    vmap(lambda x: x, out_dims="0")(x23)


def out_dims_is_a_float(vmap, x23):
    vmap(lambda x: x, out_dims=0.5)(x23)


def out_dims_structure_with_dict(vmap, x23, show):
    show(vmap(lambda x: {"a": x, "b": x * 2}, out_dims={"a": 0, "b": 1})(x23))


def out_dims_structure_with_the_wrong_dict(vmap, x23):
    vmap(lambda x: {"a": x, "b": x * 2}, out_dims={"a": 0, "c": 1})(x23)


def unbatched_output_is_expanded(torch, vmap, x23, show):
    show(vmap(lambda x: torch.ones(2))(x23))


def output_is_a_number(vmap, x3):
    vmap(lambda x: 1.0)(x3)


def output_is_none(vmap, x3):
    vmap(lambda x: None)(x3)


def output_has_a_number_among_tensors(vmap, x3):
    vmap(lambda x: (x, 1))(x3)


def output_is_an_empty_tuple(vmap, x3, show):
    show(vmap(lambda x: ())(x3))


def output_is_a_list(vmap, x3, show):
    show(vmap(lambda x: [x, (x * 2, {"k": x})])(x3))


def randomness_is_unknown(vmap, x3):
    vmap(lambda x: x, randomness="some")(x3)


def chunk_size_zero(vmap, x3):
    vmap(lambda x: x, chunk_size=0)(x3)


def chunk_size_negative(vmap, x3):
    vmap(lambda x: x, chunk_size=-1)(x3)


def chunk_size(vmap, x3, show):
    show(vmap(lambda x, y: x * y, in_dims=(0, None), chunk_size=2)(x3, x3))


def chunk_size_with_out_dims(vmap, x33, show):
    show(vmap(lambda x: (x, x.sum()), out_dims=(1, 0), chunk_size=2)(x33))


def chunk_size_larger_than_the_batch(vmap, x3, show):
    show(vmap(lambda x: x + 1, chunk_size=10)(x3))


@differs("accepts it")
def chunk_size_and_out_dims_none(torch, vmap, x3, show):
    show(vmap(lambda x: torch.ones(2), out_dims=None, chunk_size=2)(x3))


def chunk_size_with_a_dict_result(vmap, x3, show):
    show(vmap(lambda x: {"a": x}, chunk_size=1)(x3))


def empty_batch(torch, vmap, show):
    show(vmap(lambda x: x * 2)(torch.ones(0, 3)))
