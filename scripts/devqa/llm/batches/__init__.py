"""Sending requests through the Batch API: half the price, within a day."""
