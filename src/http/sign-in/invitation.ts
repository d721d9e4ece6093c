import { Type } from "typebox";
import { Problem } from "#domain/problem.ts";
import { acceptInvitation, readInvitation } from "#admin/team/invitations.ts";
import type { App } from "#http/app-type.ts";
import { escapeHtml, sendPage } from "#http/browser-pages.ts";
import type { InboxDependencies } from "#http/inbox/dependencies.ts";
import { InboxRefusal } from "#http/inbox/refusal.ts";
import { countAttempt } from "./attempts.ts";
import { providerLink } from "./provider/pages.ts";
import { buttonLink, refusedPage, signInFrame } from "./pages.ts";
import { clientOf, requireKeptSession, setSession } from "./session.ts";
import { formBytesMax } from "./entrance.ts";

const oneToken = { schema: { hide: true, params: Type.Object({ token: Type.String() }) } };

/** The page of an invitation: the invited person sets a password and is signed in. */
export function registerInvitations(
  scope: App,
  { store, clock, options }: Pick<InboxDependencies, "store" | "clock" | "options">,
): void {
  scope.get("/invitation/:token", oneToken, async (request, reply) => {
    const invited = await readInvitation(store.read, request.params.token, clock.now());
    if (invited === undefined) return sendPage(reply, 404, spentInvitationPage);
    return sendPage(reply, 200, invitationPage(invited));
  });

  scope.post("/invitation/:token", { ...oneToken, bodyLimit: formBytesMax }, async (request, reply) => {
    const { token } = request.params;
    const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
    const invited = await readInvitation(store.read, token, clock.now());
    let session: string | undefined;
    try {
      requireKeptSession(request, options.publicUrl);
      const attempt = await countAttempt(store, clock, request.remoteAddress, invited?.email);
      session = await acceptInvitation(store, clock, token, form.get("password") ?? "", clientOf(request));
      await attempt.succeeded();
    } catch (error) {
      if (!(error instanceof InboxRefusal) && !(error instanceof Problem)) throw error;
      const page = invited === undefined ? refusedPage(error.message) : invitationPage(invited, error.message);
      return sendPage(reply, error.status, page);
    }
    if (session === undefined) return sendPage(reply, 404, spentInvitationPage);
    setSession(reply, session, options.publicUrl);
    return reply.redirect("/inbox", 303);
  });
}

interface Invited {
  readonly email: string;
  readonly name: string;
  readonly workspace: string;
  readonly workspaceId: string;
  readonly provider: { readonly label: string; readonly required: boolean } | null;
}

function invitationPage(invited: Invited, problem?: string): string {
  const { email, name, workspace, workspaceId, provider } = invited;
  const link = provider && buttonLink(providerLink({ workspaceId, label: provider.label }, undefined));
  if (provider?.required === true) {
    return signInFrame(`<h1>Join ${escapeHtml(workspace)}</h1>
<p>Welcome, ${escapeHtml(name)}. You sign in through the provider of your workspace, as ${escapeHtml(email)}.</p>
<p>${link}</p>`);
  }
  return signInFrame(`<h1>Join ${escapeHtml(workspace)}</h1>
<p>Welcome, ${escapeHtml(name)}. Choose a password of at least 10 characters. You sign in with it and your e-mail address.</p>
${problem === undefined ? "" : `<p class="problem" role="alert">${escapeHtml(problem)}</p>`}
<form method="post">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" readonly value="${escapeHtml(email)}">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="10" maxlength="500" autofocus>
<button class="primary" type="submit">Join</button>
</form>
${link === null ? "" : `<p class="or">${link}</p>`}`);
}

const spentInvitationPage = signInFrame(`<h1>This invitation does not work any more</h1>
<p>Invitations work once and for seven days, and a newer one replaces them. Ask for a new one, or sign in if you have joined already.</p>
<p><a class="primary" href="/inbox/login">Sign in</a></p>`);
