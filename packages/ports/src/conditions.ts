/**
 * Tests of a message by its subject, its headers and its JSON payload: how a configuration writes them, and what they
 * mean. @module
 */
export {
  compileCondition,
  compileField,
  compileVerdict,
  type Condition,
  type ConditionOperator,
  type ConditionValue,
  Subject,
} from "./condition.ts";
export { conditionSchema, messageField } from "./condition-schema.ts";
