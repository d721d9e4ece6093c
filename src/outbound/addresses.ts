import ipaddr from "ipaddr.js";

/** Private addresses that may be reached: none, all, or these (`10.0.0.0/8`, `127.0.0.1`). */
export type AllowPrivate = boolean | readonly string[];

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Metadata services of clouds, which give out credentials. Some of their addresses look public or private. */
const metadataAddresses: ReadonlySet<string> = new Set([
  "168.63.129.16",
  "100.100.100.200",
  "fd00:ec2::254",
  "fd20:ce::254",
]);
/**
 * Kinds of addresses that include metadata services, or can embed any IPv4 address. They are reached only where they are
 * named.
 */
const neverWholesale: ReadonlySet<string> = new Set(
  "linkLocal unspecified broadcast multicast reserved rfc6052 rfc6145 6to4 teredo".split(" "),
);
/** The assigned part of IPv6; all other addresses are special or unassigned. */
const globalIpv6: readonly [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];

/** Checks whether a connection to an address is allowed. Invalid addresses are not. */
export function createAddressCheck(allowPrivate: AllowPrivate): (address: string) => boolean {
  const ranges = typeof allowPrivate === "boolean" ? [] : allowPrivate.map(parseRange);
  return (text) => {
    if (!ipaddr.isValid(text)) return false;
    // An IPv4-mapped IPv6 address is checked as IPv4.
    const address = ipaddr.process(text);
    if (ranges.some((range) => contains(range, address))) return true;
    if (isPublic(address)) return true;
    return allowPrivate === true && !neverWholesale.has(address.range()) && !metadataAddresses.has(address.toString());
  };
}

/** For people who have entered an address that {@link createAddressCheck} refuses. */
export const privateAddress = (address: string): string =>
  `${address} is not a public address; if it is yours, the operator can add it to outbound.allow_private in the configuration file (config/parley.yaml, or what PARLEY_CONFIG names), such as outbound: {allow_private: ["${address}"]}, and restart`;

/** Throws where `text` is neither an address nor a range. */
export function parseRange(text: string): Range {
  if (text.includes("/")) return ipaddr.parseCIDR(text);
  const address = ipaddr.process(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

function contains([base, bits]: Range, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return base.kind() === address.kind() && address.match(base, bits);
}

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  if (metadataAddresses.has(address.toString()) || address.range() !== "unicast") return false;
  return address.kind() === "ipv4" || address.match(globalIpv6[0], globalIpv6[1]);
}
