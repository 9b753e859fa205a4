"""vmap: random numbers."""

from tests.programs import own


def randomness_error(torch, vmap, x33):
    vmap(lambda x: x + torch.rand(3))(x33)


def randomness_error_rand_like(torch, vmap, x33):
    vmap(lambda x: torch.rand_like(x))(x33)


def randomness_error_dropout(F, vmap, x33):
    vmap(lambda x: F.dropout(x, 0.5))(x33)


def randomness_error_dropout_that_does_nothing(F, vmap, x33, show):
    show(vmap(lambda x: F.dropout(x, 0.5, training=False))(x33))


def randomness_error_bernoulli(torch, vmap, x33):
    vmap(lambda x: torch.bernoulli(x.sigmoid()))(x33)


def randomness_error_normal_in_place(vmap, x33):
    vmap(lambda x: x.normal_())(x33.clone())


def randomness_error_uniform_in_place(vmap, x33):
    vmap(lambda x: x.uniform_())(x33.clone())


def randomness_error_randperm(torch, vmap, x33):
    vmap(lambda x: x[torch.randperm(3)])(x33)


def randomness_error_randint(torch, vmap, x33):
    vmap(lambda x: x + torch.randint(0, 3, (3,)))(x33)


def randomness_error_multinomial(torch, vmap, x33):
    vmap(lambda x: torch.multinomial(x.sigmoid(), 2))(x33)


def randomness_error_exponential_in_place(vmap, x33):
    vmap(lambda x: x.exponential_())(x33.clone())


def randomness_error_random_in_place(vmap, x33):
    vmap(lambda x: x.random_(0, 5))(x33.clone())


def randomness_error_normal(torch, vmap, x33):
    vmap(lambda x: torch.normal(x, 1.0))(x33)


@own("words")
def randomness_error_rrelu(F, vmap, x33):
    vmap(lambda x: F.rrelu(x, training=True))(x33)


def randomness_error_alpha_dropout(F, vmap, x33):
    vmap(lambda x: F.alpha_dropout(x, 0.5, training=True))(x33)


def randomness_error_feature_dropout(torch, F, vmap):
    vmap(lambda x: F.dropout1d(x, 0.5))(torch.ones(2, 3, 4))


def randomness_error_gumbel_softmax(F, vmap, x33):
    vmap(lambda x: F.gumbel_softmax(x))(x33)


def randomness_same(torch, vmap, f64, x33, show):
    a = vmap(lambda x: x * 0 + torch.rand(3, dtype=f64), randomness="same")(x33)
    show(bool((a[0] == a[1]).all()), bool((a[0] == a[2]).all()))


def randomness_same_dropout(torch, F, vmap, show):
    a = vmap(lambda x: F.dropout(torch.ones_like(x), 0.5), randomness="same")(torch.ones(4, 20))
    show(bool((a[0] == a[1]).all()), bool((a[0] == a[3]).all()))


def randomness_different(torch, vmap, f64, x33, show):
    a = vmap(lambda x: x * 0 + torch.rand(3, dtype=f64), randomness="different")(x33)
    show(bool((a[0] == a[1]).all()), tuple(a.shape))


def randomness_different_unbatched_result(torch, vmap, x33, show):
    a = vmap(lambda x: torch.rand(3), randomness="different")(x33)
    show(bool((a[0] == a[1]).all()), tuple(a.shape))


def randomness_same_unbatched_result(torch, vmap, x33, show):
    a = vmap(lambda x: torch.rand(3), randomness="same")(x33)
    show(bool((a[0] == a[1]).all()), tuple(a.shape))


def randomness_same_normal_in_place_on_a_batched_tensor(vmap, x33, show):
    a = vmap(lambda x: x.normal_(), randomness="same")(x33.clone())
    show(bool((a[0] == a[1]).all()))


def randomness_different_normal_in_place_on_an_unbatched_tensor(torch, vmap, x33):
    vmap(lambda x: x + torch.zeros(3).normal_(), randomness="different")(x33)


def randomness_same_normal_in_place_on_an_unbatched_tensor(torch, vmap, x33, show):
    a = vmap(lambda x: x * 0 + torch.zeros(3).normal_(), randomness="same")(x33)
    show(bool((a[0] == a[1]).all()))


def randomness_same_bernoulli_of_a_batched_tensor(torch, vmap, x33):
    vmap(lambda x: torch.bernoulli(x.sigmoid()), randomness="same")(x33)


def randomness_same_multinomial_of_a_batched_tensor(torch, vmap, x33):
    vmap(lambda x: torch.multinomial(x.sigmoid(), 2), randomness="same")(x33)


def randomness_same_normal_of_a_batched_tensor(torch, vmap, x33):
    vmap(lambda x: torch.normal(x, 1.0), randomness="same")(x33)


def randomness_different_randperm(torch, vmap, x33, show):
    a = vmap(lambda x: torch.randperm(50), randomness="different")(x33)
    show(bool((a[0] == a[1]).all()), bool((a[0].sort()[0] == torch.arange(50)).all()))


def randomness_same_randperm(torch, vmap, x33, show):
    a = vmap(lambda x: torch.randperm(50), randomness="same")(x33)
    show(bool((a[0] == a[1]).all()))


def randomness_different_dropout_of_an_unbatched_tensor(torch, F, vmap, x33, show):
    a = vmap(lambda x: F.dropout(torch.ones(50), 0.5), randomness="different")(x33)
    show(bool((a[0] == a[1]).all()))


def randomness_with_chunks(torch, vmap, x33, show):
    a = vmap(lambda x: torch.rand(3), randomness="same", chunk_size=1)(x33)
    show(bool((a[0] == a[1]).all()))


def randomness_different_with_chunks(torch, vmap, x33, show):
    a = vmap(lambda x: torch.rand(3), randomness="different", chunk_size=1)(x33)
    show(bool((a[0] == a[1]).all()))


def randomness_of_nested_vmaps(torch, vmap, x33, show):
    a = vmap(lambda x: vmap(lambda y: torch.rand(2), randomness="different")(x), randomness="same")(x33)
    show(bool((a[0] == a[1]).all()), bool((a[:, 0] == a[:, 1]).all()))


def randomness_of_nested_vmaps_the_other_way(torch, vmap, x33, show):
    a = vmap(lambda x: vmap(lambda y: torch.rand(2), randomness="same")(x), randomness="different")(x33)
    show(bool((a[0] == a[1]).all()), bool((a[:, 0] == a[:, 1]).all()))


def randomness_error_inside_different(torch, vmap, x33):
    vmap(lambda x: vmap(lambda y: torch.rand(2))(x), randomness="different")(x33)


def randomness_error_outside_different(torch, vmap, x33):
    vmap(lambda x: vmap(lambda y: torch.rand(2), randomness="different")(x))(x33)


def random_numbers_with_a_generator(torch, vmap, x33, show):
    g = torch.Generator()
    a = vmap(lambda x: torch.rand(3, generator=g), randomness="different")(x33)
    show(tuple(a.shape))
