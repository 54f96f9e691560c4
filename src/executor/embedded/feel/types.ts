/** Types behind `instance of`. */

import type { TypeName } from "./ast.ts";
import type { Meter } from "./meter.ts";
import { childrenOf, type Node, nameOf, Refused } from "./tree.ts";
import { isContext, isList, type Kind, kindOf, memberOf, type Value } from "./values.ts";

const KINDS: ReadonlySet<string> = new Set<Kind>([
  "boolean",
  "string",
  "number",
  "list",
  "context",
  "range",
  "date",
  "time",
  "date and time",
  "days and time duration",
  "years and months duration",
]);

/** @throws {Refused} for a type that no value here can have */
export function typeOf(feel: string, node: Node): TypeName {
  const [inner] = childrenOf(node);
  if (node.name === "Type" && inner !== undefined) return typeOf(feel, inner);
  if (node.name === "ListType") {
    const element = childrenOf(node).find(({ name }) => name === "Type");
    return element === undefined ? { name: "list" } : { listOf: typeOf(feel, element) };
  }
  if (node.name === "ContextType") {
    const entries = childrenOf(node).find(({ name }) => name === "ContextEntryTypes");
    return {
      members: childrenOf(entries)
        .filter(({ name }) => name === "ContextEntryType")
        .map((each) => memberType(feel, each)),
    };
  }
  const name = nameOf(feel, node);
  if (!KINDS.has(name) && !["Any", "Null", "duration"].includes(name)) {
    throw new Refused(`the type "${name}" is not supported`);
  }
  return { name };
}

function memberType(feel: string, entry: Node): readonly [string, TypeName] {
  const [name, type] = childrenOf(entry);
  if (name === undefined || type === undefined) throw new Refused("a member's type is missing");
  return [nameOf(feel, name), typeOf(feel, type)];
}

/** Whether a value is of a type. Null is of none but its own. */
export function isInstance(value: Value, type: TypeName, meter: Meter): boolean {
  meter.members(1);
  if ("listOf" in type) return isList(value) && value.every((item) => isInstance(item, type.listOf, meter));
  if ("members" in type) {
    return (
      isContext(value) &&
      type.members.every(([name, of]) => {
        const member = memberOf(value, name);
        return member !== undefined && isInstance(member, of, meter);
      })
    );
  }
  const kind = kindOf(value);
  if (type.name === "Any") return kind !== "null";
  if (type.name === "Null") return kind === "null";
  return type.name === "duration" ? kind.endsWith("duration") : kind === type.name;
}
