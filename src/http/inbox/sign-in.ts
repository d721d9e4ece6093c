import type { FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { agentTopic } from "#queue/signals/topics.ts";
import { checkPassword, createLoginChoices, createSession, endSession, redeemLogin } from "#admin/agents.ts";
import type { App } from "#http/app-type.ts";
import { choicePage, linkPage, refusedPage, sendPage, signInPage, spentLinkPage } from "./pages.ts";
import { InboxRefusal } from "./refused.ts";
import type { InboxDependencies } from "./dependencies.ts";
import type { Attempt } from "./session.ts";
import { clearSession, countAttempt, requireKeptSession, sessionToken, setSession, signedIn } from "./session.ts";

/** Nobody has signed in yet: no more is read than a form needs. */
export const formBytesMax = 4_096;

/** How long the person may take to choose a workspace. */
const choiceMs = 10 * 60_000;
const choicePages = {
  refused: (problem: string) => signInPage({ problem }),
  spent: signInPage({ problem: "This choice has expired. Please sign in again." }),
};

/** Signing in and out. Works without a script. */
export function registerSignIn(
  scope: App,
  { store, clock, fanout, options }: Pick<InboxDependencies, "store" | "clock" | "fanout" | "options">,
): void {
  const hidden = { schema: { hide: true } };
  const refused = (error: unknown): InboxRefusal => {
    if (error instanceof InboxRefusal) return error;
    throw error;
  };

  scope.get("/login", hidden, async (_request, reply) => sendPage(reply, 200, signInPage()));

  scope.post("/login", { ...hidden, bodyLimit: formBytesMax }, async (request, reply) => {
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const choice = form.get("choice");
    if (choice !== null) return redeem(request, reply, choice, choicePages);
    const email = (form.get("email") ?? "").slice(0, 200);
    const password = (form.get("password") ?? "").slice(0, 500);
    let attempt: Attempt;
    try {
      requireKeptSession(request, options.publicUrl);
      attempt = await countAttempt(store, clock, request.remoteAddress, email);
    } catch (error) {
      const { message, status } = refused(error);
      return sendPage(reply, status, signInPage({ problem: message, email }));
    }
    const [agent, ...others] = await checkPassword(store, email, password);
    if (agent === undefined) {
      return sendPage(reply, 401, signInPage({ problem: "E-mail address or password are not right.", email }));
    }
    await attempt.succeeded();
    if (others.length > 0) {
      const agents = [agent, ...others];
      const ids = agents.map(({ id }) => id);
      const tokens = await createLoginChoices(store, clock, ids, choiceMs);
      const choices = agents.map(({ workspace }, i) => ({ workspace, token: tokens[i] ?? "" }));
      return sendPage(reply, 200, choicePage(choices));
    }
    setSession(reply, await createSession(store, clock, agent.id), options.publicUrl);
    return reply.redirect("/inbox", 303);
  });

  /** Trades a token that signs in once for a session. */
  async function redeem(
    request: FastifyRequest,
    reply: FastifyReply,
    token: string,
    pages: { readonly refused: (detail: string) => string; readonly spent: string },
  ): Promise<FastifyReply> {
    let attempt: Attempt;
    try {
      requireKeptSession(request, options.publicUrl);
      attempt = await countAttempt(store, clock, request.remoteAddress, undefined);
    } catch (error) {
      const { message, status } = refused(error);
      return sendPage(reply, status, pages.refused(message));
    }
    const session = await redeemLogin(store, clock, token);
    if (session === undefined) return sendPage(reply, 401, pages.spent);
    await attempt.succeeded();
    setSession(reply, session, options.publicUrl);
    return reply.redirect("/inbox", 303);
  }

  const tokenPath = { schema: { hide: true, params: Type.Object({ token: Type.String() }) } };
  scope.get("/login/:token", tokenPath, async (_request, reply) => sendPage(reply, 200, linkPage));

  scope.post("/login/:token", { ...tokenPath, bodyLimit: formBytesMax }, (request, reply) =>
    redeem(request, reply, request.params.token, { refused: refusedPage, spent: spentLinkPage }),
  );

  scope.post("/logout", { ...hidden, bodyLimit: formBytesMax }, async (request, reply) => {
    const token = sessionToken(request);
    const agent = await signedIn(store, clock, request);
    if (token !== undefined) await endSession(store, token);
    // Every connection of this agent looks whether its own session is the one that ended.
    if (agent !== undefined) fanout.publish(agentTopic(agent.id), "{}");
    clearSession(reply);
    return reply.redirect("/inbox/login", 303);
  });
}
