/** What stands in the JSON of Slack, which is looked at member by member. */
import { isJsonObject, type Json, type JsonObject } from '../../../../core/plugin.js'

/** A text that says something, without the space around it. */
export const word = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined
/** Empty where it is none. */
export const objectOf = (value: Json | undefined): JsonObject => (isJsonObject(value) ? value : {})
