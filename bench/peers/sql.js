/** Statements of the peers that are written by hand. */

export const SELECT_WALLET =
  'select id, state, version, owner_id, currency, balance, created_date, updated_date from wallets where id = $1';

export const UPDATE_WALLET =
  'update wallets set balance = $1, version = version + 1, updated_date = $2 where id = $3 and version = $4';

export const INSERT_EVENT =
  'insert into events (id, action_id, namespace, model_id, model_name, event_type, payload, created_date, ' +
  'model_version, event_version) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)';

export const INSERT_ACTION =
  'insert into actions (id, status, namespace, name, principal, started_date, completed_date, params) ' +
  'values ($1, $2, $3, $4, $5, $6, $7, $8)';

/** Values of `INSERT_EVENT`. */
export function eventValues(row) {
  return [
    row.id,
    row.actionId,
    row.namespace,
    row.modelId,
    row.modelName,
    row.eventType,
    JSON.stringify(row.payload),
    row.createdDate,
    row.modelVersion,
    row.eventVersion,
  ];
}

/** Values of `INSERT_ACTION`. */
export function actionValues(row) {
  return [
    row.id,
    row.status,
    row.namespace,
    row.name,
    row.principal,
    row.startedDate,
    row.completedDate,
    JSON.stringify(row.params),
  ];
}
