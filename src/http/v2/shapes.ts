import { z } from "@hono/zod-openapi";
import { variables } from "./engine-endpoint.ts";

/** What the engine's own surface answers, as the API document shows it. Members that are always null are what its clients expect. */

const key = z.string().describe("A key: decimal digits in a string.");
const tenantId = z.literal("<default>").describe("The one tenant that there is behind a credential.");
const nothing = z.null();
const process = { processDefinitionId: z.string(), processDefinitionVersion: z.int(), processDefinitionKey: key };
const tags = z.array(z.string());

export const topologyShape = z
  .object({
    brokers: z.array(
      z.object({
        nodeId: z.int(),
        host: z.string(),
        port: z.int(),
        partitions: z.array(z.object({ partitionId: z.int(), role: z.string(), health: z.string() })),
        version: z.string(),
      }),
    ),
    clusterId: nothing,
    clusterSize: z.int(),
    partitionsCount: z.int(),
    replicationFactor: z.int(),
    gatewayVersion: z.string().describe("The version of the surface that is spoken here."),
    lastCompletedChangeId: z.string(),
  })
  .openapi("Topology");

export const licenseShape = z
  .object({ validLicense: z.boolean(), licenseType: z.string(), isCommercial: z.boolean(), expiresAt: nothing })
  .openapi("License");

export const deployedShape = z
  .object({
    deploymentKey: key,
    tenantId,
    deployments: z.array(
      z.object({
        processDefinition: z.object({ ...process, resourceName: z.string(), tenantId }),
        decisionDefinition: nothing,
        decisionRequirements: nothing,
        form: nothing,
        resource: nothing,
      }),
    ),
  })
  .openapi("Deployed");

export const createdShape = z
  .object({
    ...process,
    processInstanceKey: key,
    tenantId,
    variables: variables.describe("What it ended with, where that was awaited; else nothing."),
    tags,
    businessId: z.string().nullable(),
  })
  .openapi("CreatedProcessInstance");

export const activatedShape = z
  .object({
    jobs: z.array(
      z.object({
        ...process,
        type: z.string(),
        elementId: z.string(),
        customHeaders: variables,
        worker: z.string(),
        retries: z.int(),
        deadline: z.int().describe("When its lease runs out, in Unix milliseconds."),
        variables,
        tenantId,
        jobKey: key,
        processInstanceKey: key,
        elementInstanceKey: key,
        kind: z.literal("BPMN_ELEMENT"),
        listenerEventType: z.literal("UNSPECIFIED"),
        userTask: nothing,
        tags,
        rootProcessInstanceKey: nothing,
      }),
    ),
  })
  .openapi("ActivatedJobs");

/** A page of what was found. */
function pageOf<S extends z.ZodType>(item: S) {
  return z.object({
    items: z.array(item),
    page: z.object({
      totalItems: z.int().describe("Of all pages together."),
      hasMoreTotalItems: z.boolean(),
      startCursor: nothing,
      endCursor: nothing,
    }),
  });
}

export const foundInstances = pageOf(
  z.object({
    ...process,
    processDefinitionName: z.string().nullable(),
    processDefinitionVersionTag: z.string().nullable(),
    startDate: z.iso.datetime(),
    endDate: z.iso.datetime().nullable(),
    state: z.enum(["ACTIVE", "COMPLETED", "TERMINATED"]),
    hasIncident: z.boolean(),
    processInstanceKey: key,
    parentProcessInstanceKey: nothing,
    parentElementInstanceKey: nothing,
    rootProcessInstanceKey: nothing,
    tags,
    businessId: z.string().nullable(),
    tenantId,
  }),
).openapi("FoundProcessInstances");

export const foundIncidents = pageOf(
  z.object({
    processDefinitionId: z.string(),
    processDefinitionKey: key,
    processInstanceKey: key,
    rootProcessInstanceKey: nothing,
    elementId: z.string(),
    elementInstanceKey: key.nullable(),
    incidentKey: key,
    jobKey: key.nullable(),
    errorType: z.string(),
    errorMessage: z.string(),
    creationTime: z.iso.datetime(),
    state: z.literal("ACTIVE"),
    tenantId,
  }),
).openapi("FoundIncidents");

export const foundJobs = pageOf(
  z.object({
    processDefinitionId: z.string(),
    processDefinitionKey: key,
    processInstanceKey: key,
    rootProcessInstanceKey: nothing,
    elementId: z.string(),
    elementInstanceKey: key,
    jobKey: key,
    type: z.string(),
    worker: z.string(),
    state: z.enum(["CREATED", "COMPLETED", "FAILED", "ERROR_THROWN", "TIMED_OUT"]),
    retries: z.int(),
    deadline: z.iso.datetime().nullable(),
    creationTime: z.iso.datetime(),
    endTime: nothing,
    lastUpdateTime: nothing,
    errorCode: nothing,
    errorMessage: z.string().nullable(),
    hasFailedWithRetriesLeft: z.boolean(),
    deniedReason: nothing,
    isDenied: nothing,
    kind: z.literal("BPMN_ELEMENT"),
    listenerEventType: z.literal("UNSPECIFIED"),
    customHeaders: variables,
    tenantId,
  }),
).openapi("FoundJobs");
