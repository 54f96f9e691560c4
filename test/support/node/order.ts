/** A process for tests with real clients: one task that may be declined, on the way of an error boundary event. */

/** @param type of the task's jobs; @param processId of the process */
export function orderProcess(processId: string, type: string): File {
  const xml = `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="definitions" targetNamespace="http://headgate.test">
  <bpmn:process id="${processId}" isExecutable="true">
    <bpmn:startEvent id="start" />
    <bpmn:sequenceFlow id="begins" sourceRef="start" targetRef="pay" />
    <bpmn:serviceTask id="pay">
      <bpmn:extensionElements>
        <zeebe:taskDefinition type="${type}" retries="3" />
        <zeebe:taskHeaders><zeebe:header key="method" value="card" /></zeebe:taskHeaders>
      </bpmn:extensionElements>
    </bpmn:serviceTask>
    <bpmn:boundaryEvent id="is-declined" attachedToRef="pay">
      <bpmn:errorEventDefinition errorRef="declined" />
    </bpmn:boundaryEvent>
    <bpmn:sequenceFlow id="paid" sourceRef="pay" targetRef="done" />
    <bpmn:sequenceFlow id="unpaid" sourceRef="is-declined" targetRef="given-up" />
    <bpmn:endEvent id="done" />
    <bpmn:endEvent id="given-up" />
  </bpmn:process>
  <bpmn:error id="declined" name="declined" errorCode="DECLINED" />
</bpmn:definitions>`;
  return new File([xml], `${processId}.bpmn`, { type: "text/xml" });
}
