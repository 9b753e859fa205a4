import torch
from torch import nn

torch.manual_seed(0)
enc, dec, dis = nn.Linear(4, 3), nn.Linear(3, 4), nn.Linear(3, 1)
oe = torch.optim.Adam(list(enc.parameters()) + list(dec.parameters()))
od = torch.optim.Adam(dis.parameters())
og = torch.optim.Adam(enc.parameters(), 1e-4)
bce = nn.BCEWithLogitsLoss()
for i in range(6):
    x = torch.randn(8, 4)
    oe.zero_grad()
    nn.functional.mse_loss(dec(enc(x)), x).backward()
    oe.step()
    od.zero_grad()
    (bce(dis(torch.randn(8, 3)), torch.ones(8, 1)) + bce(dis(enc(x).detach()), torch.zeros(8, 1))).backward()
    od.step()
    og.zero_grad()
    bce(dis(enc(x)), torch.ones(8, 1)).backward()
    og.step()
# sparse + dense
emb = nn.Embedding(10, 3, sparse=True)
lin = nn.Linear(3, 1)
o1 = torch.optim.SparseAdam(list(emb.parameters()))
o2 = torch.optim.Adam(lin.parameters())
for i in range(6):
    l = lin(emb(torch.randint(0, 10, (5,)))).pow(2).mean()
    o1.zero_grad()
    o2.zero_grad()
    l.backward()
    o1.step()
    o2.step()
