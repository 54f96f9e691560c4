import { type Docs, ENGINE_SILENCE } from "../document/docs.ts";

/** The reads of `/v2` in the API document, and what its other examples have in common with them. */

export const JOB = "1179603723715807";
export const INSTANCE = "1179603723715804";
export const process = {
  processDefinitionId: "order",
  processDefinitionVersion: 1,
  processDefinitionKey: "1179603723715802",
};
export const tenantId = "<default>";
const found = { hasMoreTotalItems: false, startCursor: null, endCursor: null };

const read = { limits: "refuse" } as const;

export const ENGINE_READS = {
  topology: {
    ...read,
    operationId: "getTopology",
    examples: {
      one: {
        summary: "An engine of one partition",
        status: 200,
        answer: {
          brokers: [
            {
              nodeId: 0,
              host: "127.0.0.1",
              port: 8787,
              partitions: [{ partitionId: 1, role: "leader", health: "healthy" }],
              version: "8.9.0",
            },
          ],
          clusterId: null,
          clusterSize: 1,
          partitionsCount: 1,
          replicationFactor: 1,
          gatewayVersion: "8.9.0",
          lastCompletedChangeId: "-1",
        },
      },
    },
  },
  status: { ...read, operationId: "getEngineStatus", examples: {} },
  license: {
    ...read,
    operationId: "getLicense",
    examples: {
      none: {
        summary: "There is none",
        status: 200,
        answer: { validLicense: false, licenseType: "unknown", isCommercial: false, expiresAt: null },
      },
    },
  },
  searchInstances: {
    ...read,
    operationId: "searchProcessInstances",
    problems: [...ENGINE_SILENCE],
    examples: {
      active: {
        summary: "The newest that is active",
        body: {
          filter: { state: "ACTIVE", processDefinitionId: "order" },
          sort: [{ field: "startDate", order: "DESC" }],
          page: { limit: 1 },
        },
        status: 200,
        answer: {
          items: [
            {
              ...process,
              processDefinitionName: null,
              processDefinitionVersionTag: null,
              startDate: "2026-11-30T11:13:57.228Z",
              endDate: null,
              state: "ACTIVE",
              hasIncident: true,
              processInstanceKey: INSTANCE,
              parentProcessInstanceKey: null,
              parentElementInstanceKey: null,
              rootProcessInstanceKey: null,
              tags: [],
              businessId: "order-7",
              tenantId,
            },
          ],
          page: { totalItems: 1, ...found },
        },
      },
    },
  },
  searchIncidents: {
    ...read,
    operationId: "searchIncidents",
    description: "Those that are open: a resolved one is gone.",
    problems: [...ENGINE_SILENCE],
    examples: {
      all: {
        summary: "All of them",
        body: {},
        status: 200,
        answer: {
          items: [
            {
              processDefinitionId: "order",
              processDefinitionKey: process.processDefinitionKey,
              processInstanceKey: INSTANCE,
              rootProcessInstanceKey: null,
              elementId: "pay",
              elementInstanceKey: "1179603723715806",
              incidentKey: "1179603723715810",
              jobKey: JOB,
              errorType: "JOB_NO_RETRIES",
              errorMessage: "card declined",
              creationTime: "2026-11-30T11:13:57.262Z",
              state: "ACTIVE",
              tenantId,
            },
          ],
          page: { totalItems: 1, ...found },
        },
      },
    },
  },
  searchJobs: {
    ...read,
    operationId: "searchJobs",
    problems: [...ENGINE_SILENCE],
    examples: {
      ofType: {
        summary: "Those of a type",
        body: { filter: { type: "pay" }, page: { limit: 1 } },
        status: 200,
        answer: {
          items: [
            {
              processDefinitionId: "order",
              processDefinitionKey: process.processDefinitionKey,
              processInstanceKey: INSTANCE,
              rootProcessInstanceKey: null,
              elementId: "pay",
              elementInstanceKey: "1179603723715806",
              jobKey: JOB,
              type: "pay",
              worker: "w-1",
              state: "CREATED",
              retries: 3,
              deadline: "2026-11-30T11:14:57.243Z",
              creationTime: "2026-11-30T11:13:57.228Z",
              endTime: null,
              lastUpdateTime: null,
              errorCode: null,
              errorMessage: null,
              hasFailedWithRetriesLeft: false,
              deniedReason: null,
              isDenied: null,
              kind: "BPMN_ELEMENT",
              listenerEventType: "UNSPECIFIED",
              customHeaders: {},
              tenantId,
            },
          ],
          page: { totalItems: 1, ...found },
        },
      },
    },
  },
} satisfies Record<string, Docs>;
