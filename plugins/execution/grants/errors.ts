import { defineErrors } from '../../../core/plugin.js'

/** Problems of grants. */
export const grantErrors = defineErrors({
  grant_not_found: {
    status: 404,
    domain: 'approvals',
    detail: 'There is no grant {grant_id}: it was revoked, has expired, or was never there.',
    action: 'List those that hold with GET /v1/grants.',
  },
  grant_invalid: {
    status: 400,
    domain: 'approvals',
    detail: 'Such an approval cannot be remembered.',
    action: 'See errors for what is wrong. Nothing was recorded; the call can be allowed once.',
  },
  grants_full: {
    status: 409,
    domain: 'approvals',
    detail: 'There are {most} grants, which is the most.',
    action: 'Revoke some with DELETE /v1/grants/{grant_id}, or put a rule into config/tools.toml.',
  },
})
