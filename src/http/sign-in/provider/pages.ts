import type { ListedProvider, ProviderOnly } from "#admin/sign-in/provider/agents-of-provider.ts";
import { escapeHtml } from "#http/browser-pages.ts";
import type { Link } from "#http/sign-in/pages.ts";
import { buttonLink, signInFrame } from "#http/sign-in/pages.ts";

const findPath = "/inbox/login/provider";

const withTo = (path: string, to: string | undefined): string =>
  to === undefined ? path : `${path}?${new URLSearchParams({ to }).toString()}`;

export const providerPath = (workspaceId: string): string => `${findPath}/${workspaceId}`;

export const callbackPath = (workspaceId: string): string => `${providerPath(workspaceId)}/callback`;

/** `to`: the page after the sign-in. */
export const providerLink = ({ workspaceId, label }: ProviderOnly, to: string | undefined): Link => ({
  label,
  href: withTo(providerPath(workspaceId), to),
});

/** The way to the only provider, or to the page that finds one among several. Undefined: there is none. */
export function providersLink(providers: readonly ListedProvider[], to: string | undefined): Link | undefined {
  const [first, second] = providers;
  if (first === undefined) return undefined;
  return second === undefined
    ? providerLink(first, to)
    : { label: "Sign in with single sign-on", href: withTo(findPath, to) };
}

/** Links rather than a form that redirects: browsers let forms post to this server only. */
export function findPage(shown: {
  readonly email?: string;
  readonly found?: readonly Link[];
  readonly to: string | undefined;
}): string {
  const { email = "", found, to } = shown;
  const links = (found ?? []).map((link) => `<li>${buttonLink(link)}</li>`);
  const result =
    found === undefined
      ? ""
      : links.length > 0
        ? `<ul class="choices">${links.join("\n")}</ul>`
        : `<p class="problem" role="alert">No workspace is known for this domain. Ask your administrator for the sign-in address of your workspace.</p>`;
  return signInFrame(`<h1>Single sign-on</h1>
<p>Enter your work e-mail address to find your workspace.</p>
${result}
<form method="get">
${to === undefined ? "" : `<input type="hidden" name="to" value="${escapeHtml(to)}">`}
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="200" value="${escapeHtml(email)}"${links.length > 0 ? "" : " autofocus"}>
<button class="${links.length > 0 ? "secondary" : "primary"}" type="submit">Find</button>
</form>
<p class="hint"><a href="/inbox/login">Back to sign-in</a></p>`);
}

export const providerOnlyPage = (link: Link): string =>
  signInFrame(`<h1>Use single sign-on</h1>
<p>You sign in to this workspace through its provider, not with a password.</p>
<p>${buttonLink(link)}</p>
<p class="hint"><a href="/inbox/login">Back to sign-in</a></p>`);

/** `again`: leads to the provider once more; undefined: to the sign-in page. */
export const providerRefusedPage = (detail: string, again: Link | undefined): string =>
  signInFrame(`<h1>You are not signed in</h1>
<p class="problem" role="alert">${escapeHtml(detail)}</p>
<p>${buttonLink(again ?? { label: "Back to sign-in", href: "/inbox/login" })}</p>`);
