"""The fault lab: real servers, real processes, and everything that can happen to them, on a seeded schedule."""
