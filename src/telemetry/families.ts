import { addCounts, type UsageCounts } from "../core/usage-minutes.ts";
import { engineFamilies, type Reports } from "./engine-families.ts";
import type { Family, Labels } from "./exposition.ts";

/** All metrics of a deployment, from what its parts have told. A part that told nothing leaves its families out. */

export interface Gathered {
  readonly engines: Reports;
  /** Null: the database did not answer. */
  readonly usage: Usage | null;
}

export interface Usage {
  readonly tiers: readonly (UsageCounts & { readonly tier: string })[];
  readonly top: readonly (UsageCounts & { readonly tenant: string })[];
  readonly other: UsageCounts;
}

/** The tier that callers without a credential are in. */
const ADDRESSES_TIER = "anonymous";
/** A tenant of this name is never shown by itself: the store counts it among the others. */
const OTHER = "other";

/** @param perTenant whether the reader may know who the tenants are */
export function allFamilies({ engines, usage }: Gathered, perTenant: boolean): Family[] {
  return [
    upFamily(engines, usage),
    ...engineFamilies(engines),
    checksFamily(engines, usage),
    ...(perTenant && usage !== null ? [tenantsFamily(usage)] : []),
  ];
}

function upFamily(engines: Reports, usage: Usage | null): Family {
  const parts = engines.map((report, n) => ({
    labels: { part: "engine", partition: String(n + 1) },
    value: report === null ? 0 : 1,
  }));
  return {
    type: "gauge",
    name: "headgate_up",
    help: "1 for each part that has told what this answer holds of it.",
    samples: [{ labels: { part: "database" }, value: usage === null ? 0 : 1 }, ...parts],
  };
}

/** Tenants' checks are in the database; those of addresses are told to the first partition. */
function checksFamily(engines: Reports, usage: Usage | null): Family {
  const tiers = new Map<string, UsageCounts>(usage?.tiers.map(({ tier, ...counts }) => [tier, counts]));
  const addresses = engines[0]?.operator.measured.addresses;
  if (addresses !== undefined) {
    const before = tiers.get(ADDRESSES_TIER);
    tiers.set(ADDRESSES_TIER, before === undefined ? addresses : addCounts(before, addresses));
  }
  return {
    type: "counter",
    name: "headgate_checks",
    help:
      "Checks of tenants' own limits by tier: admitted, refused, and returned: of the admitted, those whose charge was " +
      "given back because a later layer refused. Up to a minute and a half late; anonymous: addresses, since the " +
      "engine started.",
    samples: [...tiers].flatMap(([tier, counts]) => outcomesOf({ tier }, counts)),
  };
}

function tenantsFamily({ top, other }: Usage): Family {
  return {
    type: "counter",
    name: "headgate_tenant_checks",
    help: "The same by tenant: those with the most checks of all time, and all others together.",
    samples: [
      ...top.flatMap(({ tenant, ...counts }) => outcomesOf({ tenant }, counts)),
      ...outcomesOf({ tenant: OTHER }, other),
    ],
  };
}

function outcomesOf(labels: Labels, { admitted, refused, returned }: UsageCounts) {
  return Object.entries({ admitted, refused, returned }).map(([outcome, value]) => ({
    labels: { ...labels, outcome },
    value,
  }));
}
