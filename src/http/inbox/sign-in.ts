import { Type } from "typebox";
import { agentTopic } from "#engine/topics.ts";
import { checkPassword, createSession, endSession, redeemLogin } from "../../operator/agents.ts";
import type { App } from "../server.ts";
import { linkPage, refusedPage, sendPage, signInPage, spentLinkPage } from "./pages.ts";
import { InboxRefusal } from "./refusal.ts";
import type { InboxDependencies } from "./routes.ts";
import type { Attempt } from "./session.ts";
import { clearSession, countAttempt, requireKeptSession, sessionToken, setSession, signedIn } from "./session.ts";

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

  scope.post("/login", hidden, async (request, reply) => {
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
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
    const agent = await checkPassword(store, email, password);
    if (agent === undefined) {
      return sendPage(reply, 401, signInPage({ problem: "E-mail address or password are not right.", email }));
    }
    await attempt.succeeded();
    setSession(reply, await createSession(store, clock, agent.id), options.publicUrl);
    return reply.redirect("/inbox", 303);
  });

  const tokenPath = { schema: { hide: true, params: Type.Object({ token: Type.String() }) } };
  scope.get("/login/:token", tokenPath, async (_request, reply) => sendPage(reply, 200, linkPage));

  scope.post("/login/:token", tokenPath, async (request, reply) => {
    let attempt: Attempt;
    try {
      requireKeptSession(request, options.publicUrl);
      attempt = await countAttempt(store, clock, request.remoteAddress, undefined);
    } catch (error) {
      const { message, status } = refused(error);
      return sendPage(reply, status, refusedPage(message));
    }
    const session = await redeemLogin(store, clock, request.params.token);
    if (session === undefined) return sendPage(reply, 401, spentLinkPage);
    await attempt.succeeded();
    setSession(reply, session, options.publicUrl);
    return reply.redirect("/inbox", 303);
  });

  scope.post("/logout", hidden, async (request, reply) => {
    const token = sessionToken(request);
    const agent = await signedIn(store, clock, request);
    if (token !== undefined) await endSession(store, token);
    // Every connection of this agent looks whether its own session is the one that ended.
    if (agent !== undefined) fanout.publish(agentTopic(agent.id), "{}");
    clearSession(reply);
    return reply.redirect("/inbox/login", 303);
  });
}
