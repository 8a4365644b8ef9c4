"""Pages by their address: over the network, within bounds and with manners, or out of the local corpus."""
