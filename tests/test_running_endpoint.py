@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused_and_neither_key_nor_question_is_sent_on(status, monkeypatch, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "sesame")
    with serving() as stranger:
        target = f"http://localhost:{stranger.server_port}/v1/chat/completions"
        with serving(*[(status, (("Location", target),))] * 12) as server:
            with pytest.raises(EndpointError, match=f"127.0.0.1:.* redirects to localhost:{stranger.server_port}"):
                answered(server, tmp_path)
        assert stranger.asked == []


@pytest.mark.parametrize("address", ["http://ann:sesame@127.0.0.1/v1#m", "http://127.0.0.1/v1?api-key=sesame#m"])
def test_a_key_in_an_address_is_refused_and_not_repeated(address):
    with pytest.raises(ValueError, match="give a key with --key-env NAME") as error:
        open_model(address)
    assert "sesame" not in str(error.value)


def test_a_key_goes_to_no_other_machine_unencrypted(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sesame")
    with pytest.raises(ValueError, match=r"key in \$MY_KEY is not sent there; use https, or add --key-over-http"):
        open_model("http://192.0.2.1/v1#m", {"key_env": "MY_KEY"})
    sent = []
    monkeypatch.setattr(
        "lapsus.evaluation.models.endpoint_client.post", lambda url, body, headers, timeout: sent.append(headers)
    )
    monkeypatch.setenv("OPENAI_API_KEY", "of another server")
    for url, options in [
        ("http://192.0.2.1/v1", {}),
        ("http://192.0.2.1/v1", {"key": "MY_KEY", "key_over_http": True}),
        ("https://192.0.2.1/v1", {"key": "MY_KEY"}),
        ("http://localhost/v1", {"key": "MY_KEY"}),
    ]:
        Endpoint(url, "m", **options)._send(url, b"")
    assert [headers.get("Authorization") for headers in sent] == [None, *["Bearer sesame"] * 3]


def drip(connection, head):
    """Send a reply that never ends, a byte at a time."""
    connection.sendall(head)
    for _ in range(200):
        connection.sendall(b"x")
        time.sleep(0.05)


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-Slow: "])
def test_a_reply_that_drips_ends_at_the_deadline(head):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with listener.accept()[0] as connection, suppress(OSError):
                drip(connection, head)

        threading.Thread(target=serve, daemon=True).start()
        began = time.monotonic()
        with pytest.raises(OSError, match="timed out"):
            post(f"http://127.0.0.1:{listener.getsockname()[1]}/", b"{}", {}, 0.5)
        assert time.monotonic() - began < 3


@pytest.mark.parametrize("status", [b"200", b"400"])
def test_a_reply_without_end_is_not_read_whole(status):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        n_sent = []

        def serve():
            with listener.accept()[0] as connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 " + status + b" X\r\nConnection: close\r\n\r\n")
                while sum(n_sent) < 200_000_000:
                    n_sent.append(connection.send(b" " * 1_000_000))

        threading.Thread(target=serve, daemon=True).start()
        with pytest.raises(EndpointError, match=r"longer than 16 MB|answered with status 400"):
            Endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}/v1", "m", retries=0).complete("x")
        assert sum(n_sent) < 40_000_000
