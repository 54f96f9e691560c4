/** A process as a modeler saves it: a pool with lanes, a second pool, notes, colours, templates and the diagram. */
export const DRAWN = `<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:bpmndi="http://www.omg.org/spec/BPMN/20100524/DI" xmlns:dc="http://www.omg.org/spec/DD/20100524/DC" xmlns:di="http://www.omg.org/spec/DD/20100524/DI" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:modeler="http://camunda.org/schema/modeler/1.0" xmlns:bioc="http://bpmn.io/schema/bpmn/biocolor/1.0" id="Definitions_1" targetNamespace="http://bpmn.io/schema/bpmn" exporter="Camunda Modeler" exporterVersion="5.30.0" modeler:executionPlatform="Camunda Cloud" modeler:executionPlatformVersion="8.6.0">
  <bpmn:collaboration id="Collaboration_1">
    <bpmn:participant id="Pool" name="Shop" processRef="order" />
    <bpmn:participant id="Customer" name="Customer" processRef="customer" />
    <bpmn:messageFlow id="Message_1" sourceRef="Customer" targetRef="Start" />
  </bpmn:collaboration>
  <bpmn:process id="order" name="Order &amp; ship" isExecutable="true">
    <bpmn:extensionElements>
      <zeebe:versionTag value="v2" />
      <zeebe:properties><zeebe:property name="team" value="shop" /></zeebe:properties>
    </bpmn:extensionElements>
    <bpmn:laneSet id="Lanes">
      <bpmn:lane id="Lane_1" name="Money">
        <bpmn:flowNodeRef>Start</bpmn:flowNodeRef>
        <bpmn:flowNodeRef>Charge</bpmn:flowNodeRef>
      </bpmn:lane>
      <bpmn:lane id="Lane_2" />
    </bpmn:laneSet>
    <bpmn:startEvent id="Start" name="Ordered">
      <bpmn:outgoing>Flow_1</bpmn:outgoing>
    </bpmn:startEvent>
    <bpmn:sequenceFlow id="Flow_1" sourceRef="Start" targetRef="Charge" />
    <bpmn:serviceTask id="Charge" name="Charge the card" zeebe:modelerTemplate="io.example.card" zeebe:modelerTemplateIcon="data:image/svg+xml;base64,PHN2Zy8+">
      <bpmn:documentation>Takes the money.</bpmn:documentation>
      <bpmn:extensionElements>
        <zeebe:taskDefinition type="charge" retries="5" />
        <zeebe:taskHeaders>
          <zeebe:header key="currency" value="EUR" />
          <zeebe:header key="empty" />
        </zeebe:taskHeaders>
        <zeebe:ioMapping>
          <zeebe:input source="=order.amount" target="amount" />
          <zeebe:input source="fixed" target="mode" />
          <zeebe:output source="= receipt" target="payment.receipt" />
        </zeebe:ioMapping>
      </bpmn:extensionElements>
      <bpmn:incoming>Flow_1</bpmn:incoming>
      <bpmn:outgoing>Flow_2</bpmn:outgoing>
      <bpmn:dataOutputAssociation id="Data_2"><bpmn:targetRef>Store</bpmn:targetRef></bpmn:dataOutputAssociation>
    </bpmn:serviceTask>
    <bpmn:dataStoreReference id="Store" name="Ledger" />
    <bpmn:boundaryEvent id="Declined" attachedToRef="Charge">
      <bpmn:outgoing>Flow_9</bpmn:outgoing>
      <bpmn:errorEventDefinition id="ErrorDefinition_1" errorRef="Error_1" />
    </bpmn:boundaryEvent>
    <bpmn:sequenceFlow id="Flow_2" sourceRef="Charge" targetRef="Paid" />
    <bpmn:exclusiveGateway id="Paid" name="Paid?" default="No">
      <bpmn:incoming>Flow_2</bpmn:incoming>
      <bpmn:outgoing>Yes</bpmn:outgoing>
      <bpmn:outgoing>No</bpmn:outgoing>
    </bpmn:exclusiveGateway>
    <bpmn:sequenceFlow id="Yes" name="Yes" sourceRef="Paid" targetRef="Fork">
      <bpmn:conditionExpression xsi:type="bpmn:tFormalExpression">=payment.receipt != null and status = "ok"</bpmn:conditionExpression>
    </bpmn:sequenceFlow>
    <bpmn:sequenceFlow id="No" sourceRef="Paid" targetRef="Look" />
    <bpmn:parallelGateway id="Fork" gatewayDirection="Diverging">
      <bpmn:incoming>Yes</bpmn:incoming>
    </bpmn:parallelGateway>
    <bpmn:sequenceFlow id="Flow_4" sourceRef="Fork" targetRef="Pack" />
    <bpmn:sequenceFlow id="Flow_5" sourceRef="Fork" targetRef="Wait" />
    <bpmn:serviceTask id="Pack"><bpmn:extensionElements><zeebe:taskDefinition type="pack" /></bpmn:extensionElements></bpmn:serviceTask>
    <bpmn:intermediateCatchEvent id="Wait">
      <bpmn:timerEventDefinition id="TimerDefinition_1">
        <bpmn:timeDuration xsi:type="bpmn:tFormalExpression">PT1H30M</bpmn:timeDuration>
      </bpmn:timerEventDefinition>
    </bpmn:intermediateCatchEvent>
    <bpmn:sequenceFlow id="Flow_6" sourceRef="Pack" targetRef="Join" />
    <bpmn:sequenceFlow id="Flow_7" sourceRef="Wait" targetRef="Join" />
    <bpmn:parallelGateway id="Join" />
    <bpmn:sequenceFlow id="Flow_8" sourceRef="Join" targetRef="Done" />
    <bpmn:endEvent id="Done" />
    <bpmn:sequenceFlow id="Flow_9" sourceRef="Declined" targetRef="Failed" />
    <bpmn:endEvent id="Failed"><bpmn:errorEventDefinition errorRef="Error_1" /></bpmn:endEvent>
    <bpmn:manualTask id="Look" name="Look into it" />
    <bpmn:sequenceFlow id="Flow_10" sourceRef="Look" targetRef="Done" />
    <bpmn:textAnnotation id="Note"><bpmn:text>Cards only</bpmn:text></bpmn:textAnnotation>
    <bpmn:association id="Association_1" associationDirection="None" sourceRef="Charge" targetRef="Note" />
    <bpmn:group id="Group_1" categoryValueRef="Category_1_Value" />
  </bpmn:process>
  <bpmn:process id="customer"><bpmn:userTask id="Wishing" /></bpmn:process>
  <bpmn:error id="Error_1" name="Declined" errorCode="DECLINED" />
  <bpmn:category id="Category_1"><bpmn:categoryValue id="Category_1_Value" value="Money" /></bpmn:category>
  <bpmndi:BPMNDiagram id="Diagram_1">
    <bpmndi:BPMNPlane id="Plane_1" bpmnElement="Collaboration_1">
      <bpmndi:BPMNShape id="Pool_di" bpmnElement="Pool" isHorizontal="true"><dc:Bounds x="100" y="80" width="1200" height="400" /></bpmndi:BPMNShape>
      <bpmndi:BPMNShape id="Charge_di" bpmnElement="Charge" bioc:stroke="#831311" bioc:fill="#ffcdd2">
        <dc:Bounds x="240" y="180" width="100" height="80" />
        <bpmndi:BPMNLabel />
      </bpmndi:BPMNShape>
      <bpmndi:BPMNShape id="Gone_di" bpmnElement="Gone"><dc:Bounds x="1" y="1" width="1" height="1" /></bpmndi:BPMNShape>
      <bpmndi:BPMNEdge id="Flow_1_di" bpmnElement="Flow_1"><di:waypoint x="188" y="220" /><di:waypoint x="240" y="220" /></bpmndi:BPMNEdge>
    </bpmndi:BPMNPlane>
  </bpmndi:BPMNDiagram>
</bpmn:definitions>
`;
