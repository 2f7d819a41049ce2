import { defineRoute, jsonReply, type Route } from '../../../core/plugin.js'
import { CapabilitiesView, collectCapabilities } from './capabilities.js'
import { collectStatus, type StatusParts } from './snapshot.js'
import { statusView } from './view.js'

export const statusRoutes = (parts: StatusParts): readonly Route[] => [
  defineRoute({
    id: 'status.get',
    method: 'GET',
    path: '/v1/status',
    summary: 'How the daemon is: work, plugins, storage, routes, and what needs attention.',
    access: 'read',
    withoutState: true,
    reply: jsonReply(statusView(parts.sections)),
    handler: () => collectStatus(parts),
  }),
  defineRoute({
    id: 'capabilities.get',
    method: 'GET',
    path: '/v1/capabilities',
    summary: 'What this daemon can do, and the versions it speaks.',
    access: 'read',
    withoutState: true,
    reply: jsonReply(CapabilitiesView),
    handler: () => collectCapabilities(parts.claims()),
  }),
]
