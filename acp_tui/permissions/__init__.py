"""What is asked, the rules, the decision and the memory."""
