import type { ThreadFile, ThreadMessage, ThreadState, WorkspaceBranding } from "#channels/contract.ts";
import type { Block } from "#channels/text/markdown.ts";
import { plainBlocks, safeTree } from "#channels/text/markdown.ts";
import type { Branding, ConversationStatus, FileFrame, MessageFrame } from "./frames.ts";
import { clientIdOf } from "./inbound.ts";
import type { VisitorIdentity } from "./visitor/session.ts";

export interface Renderer {
  /** `prev`: the number of the message before it on this socket. */
  messageFrame(message: ThreadMessage, prev: number, sessionId: string): MessageFrame;
}

const treesMax = 200;
const sourcesMax = 10;

/**
 * Makes the frames that browsers show. One renderer serves all sockets of an account: it parses each Markdown text once,
 * and rereading a history costs no parsing.
 */
export function createRenderer(): Renderer {
  const trees = new Map<string, { readonly markdown: string; readonly tree: readonly Block[] }>();

  /** Customers write plain text; the assistant and agents write Markdown. */
  const blocksOf = ({ id, role, markdown }: ThreadMessage): readonly Block[] => {
    if (role === "user") return plainBlocks(markdown);
    const cached = trees.get(id);
    const tree = cached?.markdown === markdown ? cached.tree : safeTree(markdown);
    // Reinserted, so that the map is in the order of use and the least recently used tree comes first.
    trees.delete(id);
    trees.set(id, { markdown, tree });
    const [leastRecent] = trees.keys();
    if (trees.size > treesMax && leastRecent !== undefined) trees.delete(leastRecent);
    return tree;
  };

  return {
    messageFrame(message, prev, sessionId) {
      const { deleted } = message;
      const isRefusal = message.kind === "refusal";
      const isAnswer = !deleted && (message.kind === "answer" || isRefusal);
      const clientId = message.role === "user" ? clientIdOf(message.externalId, sessionId) : undefined;
      return {
        kind: "message",
        seq: message.seq,
        prev,
        id: message.id,
        role: message.role,
        author: message.authorName,
        ...(message.authorAvatar === null ? {} : { avatar: `avatars/${message.authorAvatar}` }),
        createdAt: message.createdAt,
        content: deleted ? [] : blocksOf(message),
        // The nearest passages of a refusal are no sources of its text.
        sources: deleted || isRefusal ? [] : message.sources.slice(0, sourcesMax),
        ...(deleted ? { deleted } : {}),
        ...(message.files.length === 0 || deleted ? {} : { files: message.files.map(fileFrameOf) }),
        ...(message.confidence === "low" ? { uncertain: true } : {}),
        ...(isAnswer ? { feedback: message.feedback } : {}),
        ...(!deleted && isRefusal ? { choices: true } : {}),
        ...(!deleted && message.kind === "survey" ? { rating: message.rating } : {}),
        ...(message.reaction === null || deleted ? {} : { reaction: message.reaction }),
        ...(message.refersTo === null || deleted ? {} : { refersTo: message.refersTo }),
        ...(clientId === undefined ? {} : { clientId }),
      };
    },
  };
}

/** The URL is relative to where the widget's script is loaded from. */
const fileFrameOf = ({ name, bytes, url, preview }: ThreadFile): FileFrame => ({
  name,
  bytes,
  url: url === null ? null : url.slice(url.lastIndexOf("/files/") + 1),
  preview,
});

export const statusOf = (
  state: ThreadState | null,
  { verified, claimed }: Pick<VisitorIdentity, "verified" | "claimed">,
): ConversationStatus => ({
  handledBy: state?.handledBy ?? "assistant",
  agentName: state?.agentName ?? null,
  hasEmail: state?.hasEmail === true || verified?.email !== undefined || claimed?.email !== undefined,
});

/** Leaves out what browsers need not know, such as the allowed origins. */
export function brandingOf(workspace: WorkspaceBranding): Branding {
  const { title, botName, greeting, color, leadCapture, files } = workspace;
  return { title, botName, greeting, color, leadCapture, files };
}
