import type { ENGINE_ROUTES } from "../../core/engine-routes.ts";
import { AT_THE_DOOR, type Docs, ENGINE_SILENCE } from "../document/docs.ts";
import { ENGINE_READS, INSTANCE, JOB, process, tenantId } from "./engine-reads.ts";

/** `/v2` in the API document: commands as its clients send them, and what they are answered. Reads are in engine-reads.ts. */

/** What ends a job, or changes one. Relief: only its ceiling and an engine that does not answer refuse it. */
const relief = {
  limits: "told",
  problems: [
    "not_found",
    "conflict",
    "deadline_exceeded",
    "idempotency_in_flight",
    "idempotency_conflict",
    ...ENGINE_SILENCE,
  ],
  headers: { 204: ["Idempotency-Replayed"] },
} satisfies Partial<Docs>;

const ORDER = `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="http://example.org">
  <bpmn:process id="order" isExecutable="true">
    <bpmn:startEvent id="start" />
    <bpmn:sequenceFlow id="to-pay" sourceRef="start" targetRef="pay" />
    <bpmn:serviceTask id="pay">
      <bpmn:extensionElements><zeebe:taskDefinition type="pay" /></bpmn:extensionElements>
    </bpmn:serviceTask>
  </bpmn:process>
</bpmn:definitions>
`;

const created = {
  ...process,
  tenantId,
  variables: {},
  processInstanceKey: INSTANCE,
  tags: [],
  businessId: "order-7",
};

export const ENGINE = {
  ...ENGINE_READS,
  deploy: {
    ...relief,
    operationId: "createDeployment",
    description: "As a form of files named `*.bpmn` or `*.xml`. All of them are deployed, or none.",
    headers: { 200: ["Idempotency-Replayed"] },
    examples: {
      order: {
        summary: "A process of one task",
        body: { resources: [ORDER] },
        status: 200,
        answer: {
          deploymentKey: "1179603723715801",
          tenantId,
          deployments: [
            {
              processDefinition: { ...process, resourceName: "order.bpmn", tenantId },
              decisionDefinition: null,
              decisionRequirements: null,
              form: null,
              resource: null,
            },
          ],
        },
      },
    },
  },
  create: {
    operationId: "createProcessInstance",
    limits: "refuse",
    problems: ["not_found", "already_exists", "conflict", "deadline_exceeded", ...AT_THE_DOOR],
    headers: { 200: ["Idempotency-Replayed"] },
    examples: {
      newest: {
        summary: "Of the newest version, under a business id that no other active instance has",
        body: { processDefinitionId: "order", variables: { total: 42 }, businessId: "order-7" },
        status: 200,
        answer: created,
      },
      byKey: {
        summary: "Of one version",
        body: { processDefinitionKey: process.processDefinitionKey, tags: ["gold"] },
        status: 200,
        answer: { ...created, businessId: null, tags: ["gold"] },
      },
    },
  },
  cancel: {
    ...relief,
    operationId: "cancelProcessInstance",
    examples: { active: { summary: "One that is active", path: { processInstanceKey: INSTANCE }, status: 204 } },
  },
  activate: {
    operationId: "activateJobs",
    description:
      "Without `requestTimeout`, or with 0, a poll is held for 10 s; with a positive one for so many milliseconds, a minute at most; with a negative one not at all. A held poll takes no place in the queue and costs one token, however long it is held. An answer that is not there after a third of a second begins with blanks.",
    limits: "refuse",
    problems: ["conflict", "queue_full", "request_limit", "write_limit", "engine_paused", "storage_full"],
    examples: {
      one: {
        summary: "One job for a minute, if there is one now",
        body: { type: "pay", worker: "w-1", timeout: 60_000, maxJobsToActivate: 1, requestTimeout: -1 },
        status: 200,
        answer: {
          jobs: [
            {
              ...process,
              type: "pay",
              elementId: "pay",
              customHeaders: {},
              worker: "w-1",
              retries: 3,
              deadline: 1_796_037_297_243,
              variables: { total: 42 },
              tenantId,
              jobKey: JOB,
              processInstanceKey: INSTANCE,
              elementInstanceKey: "1179603723715806",
              kind: "BPMN_ELEMENT",
              listenerEventType: "UNSPECIFIED",
              userTask: null,
              tags: [],
              rootProcessInstanceKey: null,
            },
          ],
        },
      },
      none: {
        summary: "There is none",
        body: { type: "nobody-does-this", timeout: 60_000, maxJobsToActivate: 1, requestTimeout: -1 },
        status: 200,
        answer: { jobs: [] },
      },
    },
  },
  complete: {
    ...relief,
    operationId: "completeJob",
    examples: {
      paid: {
        summary: "Its variables go into the instance",
        path: { jobKey: JOB },
        body: { variables: { paid: true } },
        status: 204,
      },
    },
  },
  fail: {
    ...relief,
    operationId: "failJob",
    description: "Without retries left an incident is made, and the job waits until it is resolved.",
    examples: {
      declined: {
        summary: "To be tried again in a minute, twice at the most",
        path: { jobKey: JOB },
        body: { retries: 2, errorMessage: "card declined", retryBackOff: 60_000 },
        status: 204,
      },
    },
  },
  throwError: {
    ...relief,
    operationId: "throwJobError",
    description: "An error that no boundary event of the process catches makes an incident.",
    examples: {
      stolen: {
        summary: "What the process has a way for",
        path: { jobKey: JOB },
        body: { errorCode: "CARD_STOLEN", errorMessage: "the card was reported" },
        status: 204,
      },
    },
  },
  update: {
    ...relief,
    operationId: "updateJob",
    examples: {
      longer: {
        summary: "Five more minutes, and one more try",
        path: { jobKey: JOB },
        body: { changeset: { retries: 4, timeout: 300_000 } },
        status: 204,
      },
    },
  },
  resolve: {
    ...relief,
    operationId: "resolveIncident",
    examples: {
      open: { summary: "One that is open", path: { incidentKey: "1179603723715810" }, status: 204 },
    },
  },
} satisfies Record<keyof typeof ENGINE_ROUTES, Docs>;
