import { defineErrors, type Problem } from '../../../core/plugin.js'
import { connectorKinds } from './settings.js'

export const connectorErrors = defineErrors({
  connector_not_found: {
    status: 404,
    detail: 'There is no connector {kind} {name}.',
    action: 'List those that are there with GET /v1/runtime/connectors. Kinds are external, http, slack and telegram.',
  },
  connector_invalid: {
    status: 400,
    detail: 'The connector cannot be as it is asked for: {what}.',
    action: 'Correct the member that is named: docs/connectors.md has those of each kind.',
  },
  connector_file_backed: {
    status: 409,
    detail: 'The connector {kind} {name} stands in {file}.',
    action: 'Change that file: it is read again when it is saved.',
  },
  connector_member_fixed: {
    status: 409,
    detail: 'The member {member} of the connector {kind} {name} cannot be changed.',
    action: 'Leave it out, or set up another connector beside this one.',
  },
  connector_in_use: {
    status: 409,
    detail: 'The connector {kind} {name} is a reply target of {users}.',
    action: 'Take it out of their reply targets first.',
  },
  connectors_full: {
    status: 409,
    detail: 'There are {most} connectors, which is the most that there can be.',
    action: 'Delete connectors that nobody uses any more.',
  },
  connector_secret_unusable: {
    status: 503,
    domain: 'connector_ingress',
    detail: 'The connector {kind} {name} lacks a secret that it needs.',
    action: 'See its health with GET /v1/runtime/connectors/{kind}/{name}, which says what to do.',
  },
})

/** That there is none; of a kind that is none, which there are. */
export const notFound = ({ kind, name }: { readonly kind: string; readonly name: string }): Problem => {
  const isKind = connectorKinds.some((one) => one === kind)
  const rule = `must be one of ${connectorKinds.join(', ')}`
  return connectorErrors.connector_not_found({
    details: { kind, name },
    ...(!isKind && { errors: [{ path: 'path.kind', rule }] }),
  })
}
