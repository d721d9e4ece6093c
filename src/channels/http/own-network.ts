import { BlockList, isIP } from "node:net";

/** Addresses of this machine and of networks of one's own. */
const inside = new BlockList();
for (const [net, prefix] of [
  ["10.0.0.0", 8],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
] as const) {
  inside.addSubnet(net, prefix);
}
inside.addAddress("::1", "ipv6");
inside.addSubnet("fc00::", 7, "ipv6");

/** Whether the address cannot be reached from the internet. */
export function isInOwnNetwork(webhookUrl: string): boolean {
  const host = new URL(webhookUrl).hostname.replaceAll(/[[\]]/g, "");
  const version = isIP(host);
  return version === 0
    ? /(?:^|\.)(?:localhost|local|internal|lan)$/.test(host)
    : inside.check(host, version === 6 ? "ipv6" : "ipv4");
}
