import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { questions } from "../support/program/installation.ts";
import type { Installation } from "../support/program/installation.ts";

/** A question that the API answered with 200. */
export interface AnsweredQuestion {
  readonly marker: string;
  readonly conversationId: string;
  /** Null: the bot left the conversation to agents. */
  readonly messageId: string | null;
}

export interface ApiClient {
  readonly answered: readonly AnsweredQuestion[];
  /** Responses other than 200; closed connections are not counted. */
  readonly refused: readonly string[];
  broken(): number;
  finish(): Promise<void>;
}

/** Questions per conversation. */
const conversationLength = 6;

/**
 * Sends questions to `POST /v1/query`, one at a time. After a broken connection the outcome of the question is unknown.
 */
export function openApiClient(baseUrl: string, { key, workspaceId }: Installation, random: () => number): ApiClient {
  const answered: AnsweredQuestion[] = [];
  const refused: string[] = [];
  let broken = 0;
  let asking = true;

  async function ask(conversationId: string | undefined): Promise<string | undefined> {
    const marker = randomUUID();
    const response = await fetch(`${baseUrl}/v1/query`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({
        workspace_id: workspaceId,
        query: questions[Math.floor(random() * questions.length)],
        metadata: { marker },
        ...(conversationId === undefined ? {} : { conversation_id: conversationId }),
      }),
      signal: AbortSignal.timeout(10_000),
    });
    if (response.status !== 200) {
      refused.push(`${response.status} ${(await response.text()).slice(0, 200)}`);
      return undefined;
    }
    const body = (await response.json()) as { readonly conversation_id: string; readonly message_id: string | null };
    answered.push({ marker, conversationId: body.conversation_id, messageId: body.message_id });
    return body.conversation_id;
  }

  async function askOn(): Promise<void> {
    while (asking) {
      let conversationId: string | undefined;
      for (let i = 0; i < conversationLength && asking; i += 1) {
        try {
          conversationId = await ask(conversationId);
        } catch (error) {
          // The program was killed during the request. The question may be stored or not: nothing was acknowledged.
          if (!isRefusal(error)) broken += 1;
          await sleep(100);
        }
        await sleep(random() * 150);
      }
    }
  }

  const asked = askOn();
  return {
    answered,
    refused,
    broken: () => broken,
    async finish() {
      asking = false;
      await asked;
    },
  };
}

/** The connection was refused: the question was not sent. */
function isRefusal(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}
