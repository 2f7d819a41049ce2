/** Typed names: how plugins find each other without a lookup by string. */

/** A typed name for a service that one plugin provides and others need. The major is in the id: `sessions@1`. */
export interface Token<T> {
  readonly token: string
  readonly type?: T
}
/** Names a service. Two tokens with one id are the same token. */
export const defineToken = <T>(id: string): Token<T> => Object.freeze({ token: id })

/** A typed list that any plugin may contribute to. Exported by the plugin that owns the idea. */
export interface Point<T> {
  readonly point: string
  readonly type?: T
  readonly key?: (value: T) => string
}
/** `key` makes contributions unique: a second one with the same key is refused and charged to its plugin. */
export const definePoint = <T>(id: string, key?: (value: T) => string): Point<T> =>
  Object.freeze({ point: id, ...(key !== undefined && { key }) })
