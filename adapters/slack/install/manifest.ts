import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import type { SetupFile } from "#channels/contract.ts";

/**
 * The manifests of the Slack app. With a webhook's address, Slack delivers there, and without one to a socket. Slack takes
 * no redirect URL without https.
 */
export async function readManifests(webhookUrl: string | null, redirectUrl: string): Promise<readonly SetupFile[]> {
  const addresses = { webhookUrl, redirectUrl: redirectUrl.startsWith("https:") ? redirectUrl : null };
  return [
    await readManifest("manifest.yaml", "App manifest", addresses),
    await readManifest("manifest-desk.yaml", "App manifest with the agents' desk", addresses),
  ];
}

async function readManifest(
  name: string,
  label: string,
  { webhookUrl, redirectUrl }: { readonly webhookUrl: string | null; readonly redirectUrl: string | null },
): Promise<SetupFile> {
  const stored = await readFile(new URL(`../${name}`, import.meta.url), "utf8");
  const text = stored
    .split("\n")
    .flatMap((line): readonly string[] => {
      const [, indent = "", address] = /^(\s*)(?:#((?:request_)?url):)?/.exec(line) ?? [];
      if (address !== undefined) return webhookUrl === null ? [] : [`${indent}${address}: ${webhookUrl}`];
      if (line.includes("#redirect_urls:")) {
        return redirectUrl === null ? [] : [`${indent}redirect_urls:`, `${indent}  - ${redirectUrl}`];
      }
      if (line.trimStart().startsWith("#")) return [];
      if (!line.includes("socket_mode_enabled:")) return [line];
      return [`${indent}socket_mode_enabled: ${String(webhookUrl === null)}`];
    })
    .join("\n");
  const url = new URL("https://api.slack.com/apps?new_app=1");
  url.searchParams.set("manifest_json", JSON.stringify(parse(text)));
  return { label, text, link: { label: "Create the app in Slack", url: url.href } };
}
