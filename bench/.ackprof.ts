import { install } from "/work/main/test/support/installation.ts";
import { freePort, launch } from "/work/main/test/support/launch.ts";
import { closedLoop, handOver, openCustomers } from "/work/main/bench/widget-customers.ts";
import { usedMs } from "/work/main/bench/processors.ts";
const installation = await install();
const port = await freePort();
const prof = process.argv[2] === "prof" ? ["--cpu-prof", "--cpu-prof-dir=/tmp/prof", "--cpu-prof-interval=400"] : [];
const program = launch({ installation, port, core: 0, nodeArguments: prof, env: { LOG_LEVEL: "info" } });
await program.ready;
const url = `ws://127.0.0.1:${port}/widget/ws?workspace=${installation.workspaceId}&channel=widget`;
const customers = await openCustomers(url, 100);
await handOver(customers);
for (let i = 0; i < 4; i++) {
const before = usedMs(program.pid);
const loop = await closedLoop(customers, 50, "acknowledged", Number(process.argv[3] ?? 3));
const mid = usedMs(program.pid);
await new Promise((r) => setTimeout(r, 1500));
console.log(Math.round(loop.perSecond), "/s", ((mid - before) / loop.latenciesMs.length).toFixed(3), "+after", ((usedMs(program.pid) - before) / loop.latenciesMs.length).toFixed(3), "ms cpu");
}
for (const c of customers) c.close();
program.signal("SIGTERM"); await program.exited; console.log(program.complaints.slice(0, 3)); await installation.remove();
