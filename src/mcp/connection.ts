import {
  CLIENT_INFO_META_KEY,
  INVALID_PARAMS,
  INVALID_REQUEST,
  ProtocolError,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { type Actor, nameAgent } from "../model/actor.ts";
import type { Environment } from "../model/environment.ts";
import { Failure } from "../model/failure.ts";
import { type Caller, callTool, loadOperation } from "./call.ts";
import { beginProgress } from "./progress.ts";
import { listResources, listTemplates, readResource } from "./resources.ts";
import { DRY_RUN_TOOL, describeTool } from "./schema.ts";
import { type Tier, TOOLS, toolIds } from "./tools.ts";

export interface Offer {
  tier: Tier;
  /** The agent that whoever registered us named. */
  agent: string | undefined;
  env: Environment;
  version: string;
}

/** Part of every session, so it says only what the tools cannot: how hints read, and which task is meant. */
const INSTRUCTIONS =
  'Begin with session. Hints and skills name commands: `pawl finding add "x" --looked-at F` is finding_add with text x and looked_at [F]; a bare word fills the first field, what follows -- is command. Ids: T1, T1/F2. Without task, the one you are in is meant. Work only in the task\'s worktree, end with handoff; a human approves.';

/** We never ask the client for input, so nothing has to be validated against a schema of its own. */
const NO_SCHEMAS = {
  getValidator(): never {
    throw new Error("This server validates no schemas of its client");
  },
};

/** One connection: the registry as tools, and two kinds of resources. */
export function connection(offer: Offer, era: "legacy" | "modern"): Server {
  const server = new Server(
    { name: "pawl", version: offer.version },
    {
      capabilities: { tools: {}, resources: {} },
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: NO_SCHEMAS,
    },
  );
  const clientOf = ({ mcpReq }: ServerContext) => {
    if (era === "modern") return nameIn(mcpReq.envelope);
    const known = server.getClientVersion();
    // Who calls is known from the first message on; before it, nothing may be done in anybody's name.
    if (!known) throw new ProtocolError(INVALID_REQUEST, "Send initialize first.");
    return known.name;
  };
  server.setRequestHandler("tools/list", async () => ({ tools: await listTools(offer.tier) }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const agent = agentOf(offer, clientOf(context));
    const { progress, stop } = beginProgress(context);
    try {
      return await callTool(
        offer.tier,
        params.name,
        params.arguments,
        callerOf(offer, agent, context, progress),
      );
    } finally {
      stop();
    }
  });
  server.setRequestHandler("resources/list", async () => ({ resources: listResources() }));
  server.setRequestHandler("resources/templates/list", async () => ({ resourceTemplates: listTemplates() }));
  server.setRequestHandler("resources/read", async ({ params }, context) => {
    const agent = agentOf(offer, clientOf(context));
    return readResource(
      params.uri,
      callerOf(offer, agent, context, () => {}),
    ).catch(asProtocolError);
  });
  return server;
}

async function listTools(tier: Tier) {
  const described = toolIds(tier).map(async (id) => {
    const spec = TOOLS[id];
    return spec ? [describeTool(await loadOperation(id), spec, tier)] : [];
  });
  return [...(await Promise.all(described)).flat(), DRY_RUN_TOOL];
}

/** Newer clients say who they are in every request, if they say it. */
function nameIn(envelope: object | undefined): string | undefined {
  const client = (envelope as Record<string, { name?: unknown } | undefined>)?.[CLIENT_INFO_META_KEY];
  return typeof client?.name === "string" ? client.name : undefined;
}

/** `generic` is what an adapter for any agent is called; then the client's own name says more. */
function agentOf(offer: Offer, client: string | undefined): Actor {
  return nameAgent(offer.agent && offer.agent !== "generic" ? offer.agent : client || "mcp");
}

function callerOf(
  { env }: Offer,
  agent: Actor,
  { mcpReq }: ServerContext,
  progress: Caller["progress"],
): Caller {
  return { env, agent, signal: mcpReq.signal, progress };
}

/** Resources have no answer that says what went wrong; only the protocol's own errors do. */
function asProtocolError(error: unknown): never {
  if (!(error instanceof Failure)) throw error;
  const { code, message, hint } = error;
  throw new ProtocolError(INVALID_PARAMS, `${code}: ${message}${hint ? ` ${hint}` : ""}`, { code });
}
