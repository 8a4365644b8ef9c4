"""What a run would ask, and what that would cost: counted and estimated before anything is sent."""
