/**
 * A chain of tasks, as `/v1` deploys it, as a model: start → task-1 → … → task-n → end.
 *
 * Contract: the ids are stored with instances; they never change.
 */

import type { Element, ProcessModel } from "./model.ts";

/**
 * @param processId the name it is deployed under
 * @param tasks at least one, checked: type and retries of each step's job
 */
export function fromTasks(
  processId: string,
  tasks: readonly { readonly type: string; readonly retries: number }[],
): ProcessModel {
  const ids = ["start", ...tasks.map((_task, index) => `task-${index + 1}`), "end"];
  const leaving = (index: number) => [{ id: `flow-${index + 1}`, target: ids[index + 1] ?? "end", condition: null }];
  const elements: Element[] = [
    { kind: "start-event", id: "start", name: null, outgoing: leaving(0), outputs: [] },
    ...tasks.map(
      ({ type, retries }, index): Element => ({
        kind: "service-task",
        id: `task-${index + 1}`,
        name: null,
        outgoing: leaving(index + 1),
        jobType: { literal: type },
        retries: { literal: String(retries) },
        headers: {},
        inputs: [],
        outputs: [],
        boundaries: [],
      }),
    ),
    { kind: "end-event", id: "end", name: null, outgoing: [] },
  ];
  return {
    processId,
    name: null,
    versionTag: null,
    start: "start",
    elements: Object.fromEntries(elements.map((element) => [element.id, element])),
  };
}
