"""Graph networks of four kinds, with batches of graphs from a loader."""

import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, global_mean_pool
from torch_geometric.utils import add_self_loops, degree, to_undirected

graphs = []
for _ in range(24):
    edges = to_undirected(torch.randint(0, 10, (2, 20)))
    graphs.append(Data(x=torch.randn(10, 8), edge_index=edges, y=torch.randint(0, 2, (1,))))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([GCNConv(8, 16), SAGEConv(16, 16), GATConv(16, 4, heads=4), GINConv(nn.Linear(16, 16))])
        self.last = nn.Linear(16, 2)

    def forward(self, x, edges, batch):
        for layer in self.layers:
            x = layer(x, edges).relu()
        return self.last(global_mean_pool(x, batch))


model = Net()
optimizer = torch.optim.Adam(model.parameters(), 0.01)
for _ in range(5):
    for batch in DataLoader(graphs, batch_size=8, shuffle=True):
        edges, _ = add_self_loops(batch.edge_index, num_nodes=batch.num_nodes)
        spread = degree(edges[0], batch.num_nodes).mean()
        loss = nn.functional.cross_entropy(model(batch.x, batch.edge_index, batch.batch), batch.y) + 0.01 * spread
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
