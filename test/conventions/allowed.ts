/**
 * Exceptions to the conventions: at most ten, each with its reason. A file that ends in a slash stands for its folder.
 */
export interface Exception {
  readonly rule: string
  readonly file: string
  readonly reason: string
}

export const allowed: readonly Exception[] = [
  {
    rule: 'types',
    file: 'core/base/schema.ts',
    reason: 'the one place where superstruct, JSON Schema and TypeScript types are tied together',
  },
  {
    rule: 'types',
    file: 'core/plugin/contract.ts',
    reason: 'tokens of any service in one map need a bivariant type parameter',
  },
  {
    rule: 'types',
    file: 'core/http/routes/route.ts',
    reason: 'routes of any shape in one list need a bivariant type parameter',
  },
  {
    rule: 'types',
    file: 'core/testing/send.ts',
    reason: 'tests look into answers of any shape, and an author wants no cast for each',
  },
  { rule: 'disk', file: 'plugins/tools/files/', reason: 'the tools read and write the workspace, which is not state' },
  { rule: 'disk', file: 'plugins/tools/shell/', reason: 'looks for the work folder in the workspace' },
  {
    rule: 'network',
    file: 'plugins/providers/streamed/transport/transport.ts',
    reason: 'streams answers of the one host that the operator names, without a limit in time',
  },
]
