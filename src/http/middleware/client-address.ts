import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Finds the client's address: that of the connection or, behind trusted proxies, the last untrusted one in
 * X-Forwarded-For. `onUntrusted` is called for such a header when no proxy is trusted.
 */
export function createClientAddress(trustedProxies: readonly string[], onUntrusted: () => void = () => undefined) {
  const ranges = trustedProxies.map((text) => (text.includes("/") ? ipaddr.parseCIDR(text) : singleAddress(text)));
  const trusts = (address: string): boolean => {
    if (isIP(address) === 0) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits));
  };

  return function clientAddress(remote: string | undefined, forwardedFor: string | undefined): string {
    let address = plain(remote ?? "");
    if (forwardedFor === undefined) return address;
    if (ranges.length === 0) onUntrusted();
    const hops = forwardedFor.split(",").map((hop) => plain(hop.trim()));
    while (hops.length > 0 && trusts(address)) {
      const next = hops.pop();
      if (next === undefined || isIP(next) === 0) break;
      address = next;
    }
    return address;
  };
}

/** The address, or the /64 network of an IPv6 address: one client can use all addresses of it. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  return ipaddr.parse(address).toNormalizedString().split(":").slice(0, 4).join(":");
}

function singleAddress(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

/** Turns the `::ffff:10.0.0.1` of a dual-stack socket into an IPv4 address. */
function plain(address: string): string {
  return address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
