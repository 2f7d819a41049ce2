/** A part of a JSON value or of an error that others made: nothing is known of its members. */
export type Link = Readonly<Record<string, unknown>>

export const isLink = (value: unknown): value is Link => typeof value === 'object' && value !== null
