"""One conversation: joins the agent, the state, the workspace and the rules. It knows no screen."""
