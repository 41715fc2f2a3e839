"""An S3 server of one's own that asks for keys."""

import os
import sys
from typing import Any
from urllib.request import Request, urlopen

import boto3  # type: ignore[import-untyped]
import pytest

from tests.kit.ports import LOOPBACK
from tests.kit.service import Service

BUCKET = "a-bucket"
POLICY = '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}'


class S3Server(Service):
    """Holds one bucket, in memory. It refuses requests without the keys in `keys`."""

    program = "python3"

    def __init__(self) -> None:
        super().__init__()
        self._binary = sys.executable
        self.keys: dict[str, str] = {}
        self._client: Any = None

    def command(self) -> list[str]:
        return ["-W", "ignore", "-m", "moto.server", "-H", LOOPBACK, "-p", str(self.port)]

    def start(self) -> None:
        super().start()
        self._leave_open_for(1_000)
        user = self._service("iam", "free", "free")
        user.create_user(UserName="me")
        made = user.create_access_key(UserName="me")["AccessKey"]
        user.put_user_policy(UserName="me", PolicyName="all", PolicyDocument=POLICY)
        self.keys = {
            "AWS_ACCESS_KEY_ID": made["AccessKeyId"],
            "AWS_SECRET_ACCESS_KEY": made["SecretAccessKey"],
        }
        self._client = self._service("s3", *self.keys.values())
        self._client.create_bucket(Bucket=BUCKET)
        self._leave_open_for(0)

    @property
    def endpoint(self) -> str:
        """Where it answers."""
        return f"http://{LOOPBACK}:{self.port}"

    def client(self) -> Any:
        """Another client than ours; it is kept, for making one takes longer than its calls."""
        return self._client

    def _service(self, name: str, key: str, secret: str) -> Any:
        return boto3.client(
            name,
            endpoint_url=self.endpoint,
            region_name="us-east-1",
            aws_access_key_id=key,
            aws_secret_access_key=secret,
        )

    def _leave_open_for(self, calls: int) -> None:
        """From how many calls on it asks for keys."""
        request = Request(  # noqa: S310 (our own server)
            f"{self.endpoint}/moto-api/reset-auth",
            data=str(calls).encode(),
            headers={"Content-Type": "text/plain"},
        )
        with urlopen(request) as answer:  # noqa: S310 (our own server)
            if answer.status != 200:
                raise RuntimeError(f"moto did not take it: {answer.status}")


def forget_keys(patch: pytest.MonkeyPatch) -> None:
    """Let no keys be found, and no server be asked for any."""
    for name in [*os.environ]:
        if name.startswith("AWS_"):
            patch.delenv(name)
    patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        patch.setenv(name, os.devnull)
