import { readFileSync } from "node:fs";
import { pauseAfter } from "#answering/understand/unfinished.ts";
const lines=(f)=>readFileSync(f,"utf8").trim().split("\n");
for (const ms of [15,30,45,60]) {
 let once=0, bad=[];
 for (const row of lines("/tmp/help/sequences.txt")) { const m=row.split(" / "); let now=0,due=Infinity,n=0,first=0;
  for (const [i,t] of m.entries()) { if(i>0) now+=350+t.length*ms; if(due<=now){n++;} due=now+pauseAfter(t,i>0&&due>now); }
  n++; if(n===1) once++; else bad.push(row); }
 console.log(ms,"once",once,"of 200"); if(ms===30) console.log(bad.join("\n"));
}
const s=lines("/tmp/help/singles.txt"); const d=s.filter(t=>pauseAfter(t,false)>0); console.log("singles delayed",d.length); console.log(d.map(t=>pauseAfter(t,false)+" "+t).join("\n"));
