"""Each request body of the client has a model in the API. Decision 30 says why they are two."""

import msgspec
import pytest
from pydantic import BaseModel

from headgate.app.api.dead_letters import ReplayRequest
from headgate.app.api.job_request import JobFromSource
from headgate.app.api.queues import RowsRequest
from headgate.app.api.reprocess import ReprocessFilter, ReprocessRequest
from headgate.client.across_jobs import Replay
from headgate.client.jobs import Filter, Reprocess
from headgate.client.queues import Rows
from headgate.client.submit import NewJob

SENT_BY_OTHER_MEANS = {
    NewJob: {"source", "items"},  # arguments of the methods that send it
    Reprocess: {"scope"},  # follows from `itemIds`
}
PAIRS = [
    (NewJob, JobFromSource),
    (Rows, RowsRequest),
    (Reprocess, ReprocessRequest),
    (Filter, ReprocessFilter),
    (Replay, ReplayRequest),
]


@pytest.mark.parametrize(("sent", "read"), PAIRS, ids=lambda kind: kind.__name__)
def test_the_client_sends_the_fields_that_the_api_reads(
    sent: type[msgspec.Struct], read: type[BaseModel]
):
    sent_names = {field.encode_name for field in msgspec.structs.fields(sent)}
    read_names = {field.alias or name for name, field in read.model_fields.items()}
    assert sent_names | SENT_BY_OTHER_MEANS.get(sent, set()) == read_names
