import { defineErrors } from '../../../core/plugin.js'

/** Problems of playbooks. */
export const playbookErrors = defineErrors({
  playbook_not_found: {
    status: 404,
    domain: 'playbooks',
    detail: 'There is no playbook {playbook_id}.',
    action: 'List them with GET /v1/playbooks.',
  },
  playbook_version_not_found: {
    status: 404,
    domain: 'playbooks',
    detail: 'The playbook {playbook_id} has no version {version}.',
    action: 'GET /v1/playbooks/{playbook_id} lists its versions.',
  },
  playbook_manifest_invalid: {
    status: 400,
    domain: 'playbooks',
    detail: 'The manifest is not valid: {reason}.',
    action: 'POST /v1/playbooks/validate tells all that is wrong with it.',
  },
  playbook_version_conflict: {
    status: 409,
    domain: 'playbooks',
    detail: 'Version {version} of {playbook_id} is another manifest, with the digest {digest}.',
    action: 'A version never changes: give the changed manifest another version.',
  },
  playbook_digest_mismatch: {
    status: 400,
    domain: 'playbooks',
    detail: 'Version {version} of {playbook_id} has another digest: {digest}.',
    action: 'Read the playbook, look at what its manifest says, and send the digest of what you have looked at.',
  },
  playbook_revoked: {
    status: 409,
    domain: 'playbooks',
    detail: 'Version {version} of {playbook_id} was revoked.',
    action: 'A revoked version stays so: create another one.',
  },
  playbook_not_startable: {
    status: 400,
    domain: 'playbooks',
    detail: 'Version {version} of {playbook_id} is {status}; flows are started of verified, canary and active ones.',
    action:
      'A draft is published with POST /v1/playbooks/{playbook_id}/publish; a revoked version stays revoked: name ' +
      'another one, which GET /v1/playbooks/{playbook_id} lists.',
  },
  playbook_full: {
    status: 409,
    domain: 'playbooks',
    detail: 'The playbook {playbook_id} has {most} versions, or {bytes} bytes of evidence and reasons: no more fit.',
    action: 'Go on under another playbook_id.',
  },
})
