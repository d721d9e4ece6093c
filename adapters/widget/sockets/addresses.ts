/** The unit of limits for each address: an IPv4 address, or the /64 that belongs to one IPv6 customer. */
export function addressKey(remoteAddress: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/iu.exec(remoteAddress)?.[1];
  if (mapped !== undefined) return mapped;
  if (!remoteAddress.includes(":")) return remoteAddress;
  const [head = "", tail = ""] = (remoteAddress.split("%")[0] ?? "").toLowerCase().split("::");
  const start = head === "" ? [] : head.split(":");
  const end = tail === "" ? [] : tail.split(":");
  const groups = remoteAddress.includes("::")
    ? [...start, ...Array.from({ length: Math.max(0, 8 - start.length - end.length) }, () => "0"), ...end]
    : start;
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/u, ""))
    .join(":")}::/64`;
}

/** Bounds the sockets that one address holds open. */
export interface AddressSlots {
  /** Takes a slot; undefined when all are taken. The returned function frees it and must be called once. */
  take(address: string): (() => void) | undefined;
}

export function createAddressSlots(slotsPerAddress: number): AddressSlots {
  const taken = new Map<string, number>();

  const free = (address: string): void => {
    const left = (taken.get(address) ?? 1) - 1;
    if (left > 0) taken.set(address, left);
    else taken.delete(address);
  };

  return {
    take(address) {
      const count = taken.get(address) ?? 0;
      if (count >= slotsPerAddress) return undefined;
      taken.set(address, count + 1);
      return () => free(address);
    },
  };
}
