import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * Who is at the other end: the connection's own address, unless that is a trusted proxy; then the last address in
 * X-Forwarded-For that is not one itself. `onUnbelieved` hears of such a header where no proxy is trusted.
 */
export function createClientAddress(trustedProxies: readonly string[], onUnbelieved: () => void = () => undefined) {
  const ranges = trustedProxies.map((text) => (text.includes("/") ? ipaddr.parseCIDR(text) : singleAddress(text)));
  const trusts = (address: string): boolean => {
    if (isIP(address) === 0) return false;
    const parsed = ipaddr.process(address);
    return ranges.some(([range, bits]) => range.kind() === parsed.kind() && parsed.match(range, bits));
  };

  return function clientAddress(remote: string | undefined, forwardedFor: string | undefined): string {
    let address = plain(remote ?? "");
    if (forwardedFor === undefined) return address;
    if (ranges.length === 0) onUnbelieved();
    const hops = forwardedFor.split(",").map((hop) => plain(hop.trim()));
    while (hops.length > 0 && trusts(address)) {
      const next = hops.pop();
      if (next === undefined || isIP(next) === 0) break;
      address = next;
    }
    return address;
  };
}

/** One customer of a network has a whole /64 of IPv6 addresses. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  return ipaddr.parse(address).toNormalizedString().split(":").slice(0, 4).join(":");
}

function singleAddress(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  const address = ipaddr.parse(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

/** `::ffff:10.0.0.1` is how a dual-stack socket writes an IPv4 address. */
function plain(address: string): string {
  return address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}
