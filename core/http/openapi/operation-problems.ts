/** Problem responses in the OpenAPI document: which codes a status may carry, with an example each. */
import type { ProblemFactory } from '../../base/errors.js'
import { httpErrors as errors } from '../errors.js'
import { problemDocument, problemType, titleOf } from '../problem.js'

export type ProblemsByStatus = ReadonlyMap<number, readonly ProblemFactory[]>

const text = { type: 'string' } as const
export const problemSchema = {
  type: 'object',
  description: 'RFC 9457 problem document. `code` is stable; `detail` is for people.',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: { ...text, pattern: '^urn:service:problem:' },
    title: text,
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: text,
    code: text,
    domain: text,
    action: { ...text, description: 'What the caller can do.' },
    limit_bytes: { type: 'integer', description: 'The limit that a body was above.' },
    errors: {
      type: 'array',
      description: 'Offending fields.',
      items: {
        type: 'object',
        required: ['path', 'rule'],
        properties: { path: { ...text, description: 'Such as `body.content`.' }, rule: text },
      },
    },
  },
} as const

const byStatus = (factories: Iterable<ProblemFactory>): Map<number, ProblemFactory[]> => {
  const groups = new Map<number, ProblemFactory[]>()
  for (const factory of new Set(factories))
    groups.set(factory.spec.status, [...(groups.get(factory.spec.status) ?? []), factory])
  return new Map([...groups].sort(([a], [b]) => a - b))
}

/** What any request may meet, whatever its route. */
export const sharedProblems = (more: readonly ProblemFactory[]): ProblemsByStatus =>
  byStatus([
    errors.bad_request,
    errors.invalid_idempotency_key,
    errors.idempotency_key_not_taken,
    errors.missing_token,
    errors.malformed_token,
    errors.invalid_token,
    errors.insufficient_access,
    errors.host_not_allowed,
    errors.origin_not_allowed,
    errors.request_timeout,
    errors.payload_too_large,
    errors.unsupported_media_type,
    errors.expectation_failed,
    errors.rate_limited,
    errors.headers_too_large,
    errors.internal_error,
    errors.too_many_bodies,
    errors.daemon_draining,
    ...more,
  ])

export const describeProblems = (status: number, factories: readonly ProblemFactory[]) => ({
  description: factories.map(({ code }) => `\`${code}\``).join(', '),
  content: {
    [problemType]: {
      schema: {
        allOf: [
          { $ref: '#/components/schemas/Problem' },
          {
            properties: {
              status: { const: status },
              title: { const: titleOf(status) },
              code: { enum: [...new Set(factories.map(({ code }) => code))] },
            },
          },
        ],
      },
      examples: Object.fromEntries(factories.map((factory) => [factory.code, { value: problemDocument(factory()) }])),
    },
  },
})

/** The problem responses of one route: the shared ones by reference, its own in full. */
export const problemResponses = (own: readonly ProblemFactory[], shared: ProblemsByStatus): Record<string, unknown> => {
  const mine = byStatus(own)
  const statuses = [...new Set([...shared.keys(), ...mine.keys()])].sort((a, b) => a - b)
  return Object.fromEntries(
    statuses.map((status) => {
      const extra = mine.get(status)
      const byReference = shared.get(status) ?? []
      return [
        String(status),
        extra === undefined
          ? { $ref: `#/components/responses/Problem${status}` }
          : describeProblems(status, [...byReference, ...extra.filter((factory) => !byReference.includes(factory))]),
      ]
    }),
  )
}
