import torch
from torch import nn

actor, critic = nn.Linear(3, 2), nn.Linear(5, 1)
opt_actor, opt_critic = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
for step in range(6):
    state = torch.randn(8, 3)
    logits = actor(state)
    action = torch.distributions.Categorical(logits=logits).sample()
    chosen = nn.functional.one_hot(logits.argmax(1), 2).float()  # the critic learns of the choice; the actor learns from its score
    value = critic(torch.cat([state, chosen], 1)).squeeze(1)
    critic_loss = (value - state.sum(1)).pow(2).mean()
    opt_critic.zero_grad()
    critic_loss.backward()
    opt_critic.step()
    actor_loss = -(logits.log_softmax(1).gather(1, action[:, None]).squeeze(1) * value.detach()).mean()
    opt_actor.zero_grad()
    actor_loss.backward()
    opt_actor.step()
