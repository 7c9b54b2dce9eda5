// Runs a turn of the demo agent over WebSocket: `served_agent_client.mjs URL VERSION FOLDER PROMPT`, with the token
// in $TOKEN. Prints a JSON object with the capabilities, the updates and the error of a session outside the folder.
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";
import { WebSocket } from "ws";

const [url, version, folder, prompt] = process.argv.slice(2);
const entry = version === "2" ? "/experimental/v2" : "";
const acp = await import(`@agentclientprotocol/sdk${entry}`);
const headers = { Authorization: `Bearer ${process.env.TOKEN}` };
const stream = createWebSocketStream(url, { headers, WebSocket });
const found = { updates: [] };
const ended = Promise.withResolvers();

const app = acp.client({ name: "test" }).onNotification(acp.methods.client.session.update, ({ params }) => {
  found.updates.push(params.update);
  if (params.update.sessionUpdate === "state_update" && params.update.state === "idle") ended.resolve();
});
await app.connectWith(stream, async (agent) => {
  const about = { name: "test", version: "1" };
  const first =
    version === "2"
      ? { protocolVersion: 2, info: about, capabilities: {} }
      : { protocolVersion: 1, clientInfo: about, clientCapabilities: {} };
  found.version = (await agent.request(acp.methods.agent.initialize, first)).protocolVersion;
  const outside = { cwd: "/", mcpServers: [] };
  found.refused = await agent.request(acp.methods.agent.session.new, outside).then(() => null, (error) => error.code);
  const session = await agent.request(acp.methods.agent.session.new, { ...outside, cwd: folder });
  const content = [{ type: "text", text: prompt }];
  const params = { sessionId: session.sessionId, prompt: content };
  found.answer = await agent.request(acp.methods.agent.session.prompt, params);
  if (version === "2") await ended.promise;
});
console.log(JSON.stringify(found));
process.exit(0);
