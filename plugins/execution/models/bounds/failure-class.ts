/** Why a model call failed, by what can be done about it. */
export const failureClasses = [
  'rate_limited',
  'overloaded',
  'auth',
  'bad_request',
  'context_length',
  'network',
  'timeout',
  'truncated',
  'invalid_output',
  'aborted',
  /** Of the daemon alone: the provider did not keep its contract. */
  'provider_fault',
  'unknown',
] as const

/** One of them. */
export type FailureClass = (typeof failureClasses)[number]
