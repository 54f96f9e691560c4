import { expect, it } from "vitest";
import { failed, withEngine } from "./harness.ts";

const versions = "SELECT version FROM process_definitions WHERE tenant = ? AND process_id = ? ORDER BY version";

it("a deployment of the same content again is the same version, also with the default written out", () =>
  withEngine((engine) => {
    expect(engine.ok("acme", "DEPLOYMENT:CREATE", { processId: "p", tasks: [{ type: "a" }] })).toEqual({});
    const before = engine.dump();
    expect(engine.ok("acme", "DEPLOYMENT:CREATE", { processId: "p", tasks: [{ retries: 3, type: "a" }] })).toEqual({});
    expect(engine.dump()).toEqual(before);
  }));

it.each([
  ["another type", ["b"], 3],
  ["another task behind", ["a", "a"], 3],
  ["other retries", ["a"], 4],
])("changed content (%s) is the next version", (_label, types, retries) =>
  withEngine((engine) => {
    engine.deploy("acme", "p", ["a"]);
    engine.deploy("acme", "p", types, retries);
    expect(engine.rows(versions, "acme", "p")).toEqual([{ version: 1 }, { version: 2 }]);
  }),
);

it("content that was replaced and comes back is a new version", () =>
  withEngine((engine) => {
    for (const type of ["a", "b", "a"]) engine.deploy("acme", "p", [type]);
    expect(engine.rows(versions, "acme", "p")).toHaveLength(3);
    engine.start("acme", "p");
    expect(engine.activate("acme", "a")).toHaveLength(1);
  }));

it("each tenant and each process counts its own versions", () =>
  withEngine((engine) => {
    engine.deploy("acme", "p", ["a"]);
    engine.deploy("acme", "p", ["b"]);
    engine.deploy("acme", "q", ["a"]);
    engine.deploy("bolt", "p", ["a"]);
    expect(engine.rows(versions, "acme", "q")).toEqual([{ version: 1 }]);
    expect(engine.rows(versions, "bolt", "p")).toEqual([{ version: 1 }]);
  }));

it("an instance takes the newest version, or the one that it names", () =>
  withEngine((engine) => {
    engine.deploy("acme", "p", ["old"]);
    engine.deploy("acme", "p", ["new"]);
    engine.start("acme", "p");
    expect(engine.activate("acme", "new")).toHaveLength(1);
    engine.ok("acme", "PROCESS_INSTANCE:CREATE", { processId: "p", version: 1 });
    expect(engine.activate("acme", "old")).toHaveLength(1);
  }));

it("a version that was deployed after an instance of the one before is the newest for the next, of that tenant alone", () =>
  withEngine((engine) => {
    for (const tenant of ["acme", "acm"]) engine.deploy(tenant, tenant === "acme" ? "p" : "ep", ["old"]);
    engine.start("acme", "p");
    engine.start("acm", "ep");
    engine.deploy("acme", "p", ["new"]);
    engine.start("acme", "p");
    engine.start("acm", "ep");
    expect(engine.activate("acme", "new", undefined, { maxJobs: 10 })).toHaveLength(1);
    expect(engine.activate("acme", "old", undefined, { maxJobs: 10 })).toHaveLength(1);
    expect(engine.activate("acm", "old", undefined, { maxJobs: 10 })).toHaveLength(2);
  }));

it("an instance goes on by the version that it began with", () =>
  withEngine((engine) => {
    engine.deploy("acme", "p", ["a", "old"]);
    engine.start("acme", "p");
    engine.deploy("acme", "p", ["a", "new"]);
    engine.ok("acme", "JOB:COMPLETE", { jobKey: engine.activateOne("acme", "a").jobKey });
    expect(engine.activate("acme", "old")).toHaveLength(1);
    expect(engine.activate("acme", "new")).toHaveLength(0);
  }));

it.each([
  ["an unknown process", { processId: "q" }, '"q"'],
  ["an unknown version", { processId: "p", version: 2 }, "version 2"],
  ["another tenant's process", { processId: "theirs" }, '"theirs"'],
])("creating an instance of %s is not found, and changes nothing", (_label, payload, naming) =>
  withEngine((engine) => {
    engine.deploy("acme", "p", ["a"]);
    engine.deploy("bolt", "theirs", ["a"]);
    const before = engine.dump();
    expect(engine.run("acme", "PROCESS_INSTANCE:CREATE", payload)).toEqual(failed("not_found", naming));
    expect(engine.dump()).toEqual(before);
  }),
);

it("names that differ only in a NUL, in case or in a quote are different names", () =>
  withEngine((engine) => {
    const names = ["p", "p\0", "p\0a", "P", "p'"];
    for (const name of names) engine.deploy("acme", name, [name]);
    for (const name of names) engine.start("acme", name);
    for (const name of names) expect(engine.activate("acme", name, undefined, { maxJobs: 10 })).toHaveLength(1);
  }));
