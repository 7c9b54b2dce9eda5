// Serves an agent with the SDK's server: `served_by_typescript.mjs TRANSPORT...`, where TRANSPORT is `websocket` or
// `http`. The client chooses the version of the protocol. The token that clients must send is in $TOKEN.
//
// Prints a JSON object per line: first the address, with a free port, then each request with its headers and the status of the answer, each
// message of a client after the SDK has accepted it, and each answer to a request of the agent.
//
// The agent repeats a prompt. "run COMMAND" asks for permission, "choose" shows a form, "wait" runs until it is
// cancelled, "settings" tells the session's settings, "fail" ends with an error, and "leave" closes all connections.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import * as v1 from "@agentclientprotocol/sdk";
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from "@agentclientprotocol/sdk/experimental/node";
import { AcpServer } from "@agentclientprotocol/sdk/experimental/server";
import * as v2 from "@agentclientprotocol/sdk/experimental/v2";
import { WebSocketServer } from "ws";

const transports = process.argv.slice(2);
const sessions = new Map(); // they outlive connections
const report = (line) => console.log(JSON.stringify(line));

class Session {
  id = randomUUID();
  history = []; // updates
  settings = { pace: "slow", loud: false };

  constructor({ cwd, mcpServers = [], additionalDirectories = [] }) {
    Object.assign(this, { cwd, mcpServers, additionalDirectories, cancelled: new AbortController() });
    sessions.set(this.id, this);
  }

  static of(acp, { sessionId }) {
    const found = sessions.get(sessionId);
    if (!found) throw acp.RequestError.resourceNotFound(sessionId);
    return found;
  }

  // The options, whose ids have another name in each version.
  options(idName) {
    const values = ["slow", "fast"].map((value) => ({ value, name: value }));
    return [
      { [idName]: "pace", name: "Pace", type: "select", currentValue: this.settings.pace, options: values },
      { [idName]: "loud", name: "Loud", type: "boolean", currentValue: this.settings.loud },
    ];
  }

  info() {
    return { sessionId: this.id, cwd: this.cwd, title: "A session" };
  }
}

// Runs a turn. `talk` has the methods of one version: `say`, `ask` and `choose`.
async function turn(session, prompt, talk) {
  const words = prompt.map((block) => block.text ?? block.resource?.text ?? block.uri).join(" ");
  session.cancelled = new AbortController();
  await talk.say("You said: ");
  await talk.say(words);
  if (words === "wait") await once(session.cancelled.signal, "abort");
  if (words === "leave") await acpServer.close().then(() => new Promise(() => {})); // the turn never ends
  if (words === "fail") throw new Error("the agent failed");
  if (words === "settings") await talk.say(JSON.stringify(session.settings));
  if (words === "choose") await talk.say(JSON.stringify(await talk.choose()));
  if (words.startsWith("run ")) await talk.say(JSON.stringify(await talk.ask(words.slice(4))));
}

const choices = { type: "object", properties: { colour: { type: "string", enum: ["red", "blue"] } } };
const permissionOptions = [
  { optionId: "yes", name: "Allow", kind: "allow_once" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
];
const about = { name: "typescript-server", version: "1" };

// Registers what is the same in both versions.
function agentOf(acp, idName) {
  const { session } = acp.methods.agent;
  const opened = (found) => ({ configOptions: found.options(idName) });
  const app = acp
    .agent({ name: "test" })
    .onRequest(session.new, ({ params }) => {
      const created = new Session(params);
      return { sessionId: created.id, ...opened(created) };
    })
    .onRequest(session.list, () => ({ sessions: [...sessions.values()].map((found) => found.info()) }))
    .onRequest(session.close, ({ params }) => void Session.of(acp, params))
    .onRequest(session.delete, ({ params }) => void sessions.delete(params.sessionId))
    .onRequest(session.setConfigOption, ({ params }) => {
      Session.of(acp, params).settings[params.configId] = params.value;
      return opened(Session.of(acp, params));
    })
    .onNotification(session.cancel, ({ params }) => Session.of(acp, params).cancelled.abort());
  return { app, opened };
}

function senderOf(acp, client, session) {
  const send = (update) => client.notify(acp.methods.client.session.update, { sessionId: session.id, update });
  const keep = (update) => {
    session.history.push(update);
    return send(update);
  };
  const request = async (method, params) => {
    const answer = await client.request(method, { sessionId: session.id, ...params });
    report({ answer: method, ...answer });
    return answer;
  };
  const choose = () => {
    const asked = { mode: "form", message: "Which colour?", requestedSchema: choices };
    return request(acp.methods.client.elicitation.create, asked);
  };
  return { send, keep, request, choose };
}

function version1() {
  const { app, opened } = agentOf(v1, "id");
  const { agent, client: clientMethods } = v1.methods;
  const reopened = async ({ params, client }, replays) => {
    const session = Session.of(v1, params);
    const { send } = senderOf(v1, client, session);
    for (const update of replays ? session.history : []) await send(update);
    return opened(session);
  };
  return app
    .onRequest(agent.initialize, () => ({
      protocolVersion: v1.PROTOCOL_VERSION,
      agentInfo: about,
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { embeddedContext: true },
        mcpCapabilities: { http: true },
        sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {} },
      },
    }))
    .onRequest(agent.session.load, (context) => reopened(context, true))
    .onRequest(agent.session.resume, (context) => reopened(context, false))
    .onRequest(agent.session.prompt, async ({ params, client }) => {
      const session = Session.of(v1, params);
      const { send, keep, request, choose } = senderOf(v1, client, session);
      session.history.push(...params.prompt.map((content) => ({ sessionUpdate: "user_message_chunk", content })));
      const say = (text) => keep({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
      const ask = async (command) => {
        const toolCall = { toolCallId: randomUUID(), title: command, kind: "execute", rawInput: { command } };
        await send({ sessionUpdate: "tool_call", ...toolCall, status: "pending" });
        const asked = { toolCall, options: permissionOptions };
        const { outcome } = await request(clientMethods.session.requestPermission, asked);
        const { toolCallId } = toolCall;
        await send({ sessionUpdate: "tool_call_update", toolCallId, status: "completed" });
        return outcome;
      };
      await turn(session, params.prompt, { say, ask, choose });
      return { stopReason: session.cancelled.signal.aborted ? "cancelled" : "end_turn" };
    });
}

function version2() {
  const { app, opened } = agentOf(v2, "configId");
  const { agent, client: clientMethods } = v2.methods;
  return app
    .onRequest(agent.initialize, () => ({
      protocolVersion: v2.PROTOCOL_VERSION,
      info: about,
      capabilities: {
        session: {
          prompt: { embeddedContext: {} },
          mcp: { http: {} },
          delete: {},
          additionalDirectories: {},
        },
      },
    }))
    .onRequest(agent.session.resume, async ({ params, client }) => {
      const session = Session.of(v2, params);
      const { send } = senderOf(v2, client, session);
      for (const update of params.replayFrom ? session.history : []) await send(update);
      await send({ sessionUpdate: "state_update", state: "idle" });
      return opened(session);
    })
    .onRequest(agent.session.prompt, ({ params, client }) => {
      const session = Session.of(v2, params);
      const prompted = randomUUID();
      setImmediate(() => turnOfVersion2(session, prompted, params.prompt, senderOf(v2, client, session)));
      return { messageId: prompted };
    });

  async function turnOfVersion2(session, prompted, prompt, { send, keep, request, choose }) {
    const [messageId, state] = [randomUUID(), "state_update"];
    await keep({ sessionUpdate: "user_message", messageId: prompted, content: prompt });
    await send({ sessionUpdate: state, state: "running" });
    const say = (text) => keep({ sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } });
    const ask = async (command) => {
      const [toolCallId, kind] = [randomUUID(), "execute"];
      const call = { sessionUpdate: "tool_call_update", toolCallId, title: command };
      await send({ ...call, kind, status: "pending", rawInput: { command } });
      await send({ sessionUpdate: state, state: "requires_action" });
      const subject = { type: "command", command, cwd: session.cwd, toolCallId };
      const asked = { title: "Run a command", subject, options: permissionOptions };
      const { outcome } = await request(clientMethods.session.requestPermission, asked);
      await send({ sessionUpdate: state, state: "running" });
      await send({ sessionUpdate: "tool_call_update", toolCallId, status: "completed" });
      return outcome;
    };
    try {
      await turn(session, prompt, { say, ask, choose });
      const stopReason = session.cancelled.signal.aborted ? "cancelled" : "end_turn";
      await send({ sessionUpdate: state, state: "idle", stopReason });
    } catch (error) {
      const failure = { code: -32603, message: error.message };
      await send({ sessionUpdate: state, state: "idle", stopReason: "error", error: failure });
    }
  }
}

// Reports the requests for the SDK, and what it answers.
class ReportingServer extends AcpServer {
  async handleRequest(request, options) {
    const [headers, body] = [Object.fromEntries(request.headers), await request.clone().text()];
    const response = await super.handleRequest(request, options);
    const connection = response.headers.get("Acp-Connection-Id");
    report({ request: request.method, headers, body: body && JSON.parse(body), status: response.status, connection });
    return response;
  }
}

// Reports the messages of a client.
function reporting(agent) {
  const tap = () =>
    new TransformStream({
      transform(message, controller) {
        report({ message });
        controller.enqueue(message);
      },
    });
  return {
    connect: ({ readable, writable }, options) =>
      agent.connect({ readable: readable.pipeThrough(tap()), writable }, options),
  };
}

const createAgent = () => reporting(v2.agentProtocolRouter().withV1(version1()).withV2(version2()));
const acpServer = new ReportingServer({ createAgent });
const isRefused = ({ method, headers }) => {
  const refused = headers.authorization !== `Bearer ${process.env.TOKEN}`;
  if (refused) report({ request: method, headers, status: 401 });
  return refused;
};
const handle = createNodeHttpHandler(acpServer);
const server = createServer((request, response) => {
  if (isRefused(request)) response.writeHead(401).end();
  else if (transports.includes("http")) handle(request, response);
  else response.writeHead(404).end();
});
if (transports.includes("websocket")) {
  const upgrade = createNodeWebSocketUpgradeHandler(acpServer, new WebSocketServer({ noServer: true }));
  server.on("upgrade", (request, socket, head) => {
    if (isRefused(request)) {
      socket.end("HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    report({ request: "upgrade", headers: request.headers });
    socket.once("close", () => report({ request: "closed" }));
    upgrade(request, socket, head);
  });
}
const scheme = transports.includes("http") ? "http" : "ws";
server.listen(0, "127.0.0.1", () => report({ url: `${scheme}://127.0.0.1:${server.address().port}/acp` }));
